package rangetest

import (
	"fmt"
	"math"
	"strconv"
)

// Result is what a test has shown. As JSON it is the content of find_lr.json.
type Result struct {
	Start     string    `json:"start"`     // the weights that it began with
	End       string    `json:"end"`       // why it ended
	Updates   int       `json:"updates"`   // made
	Rates     []float64 `json:"rates"`     // of each of them
	Losses    []float64 `json:"losses"`    // nats per second of sound
	Smoothed  []float64 `json:"smoothed"`  // the mean over the updates around each
	Lowest    *Place    `json:"lowest"`    // where the smoothed loss is lowest; nil where the test shows no such place
	Bound     *Place    `json:"bound"`     // the highest rate with which it can't be told from that; nil likewise
	Steepest  *Place    `json:"steepest"`  // where it falls fastest with the logarithm of the rate; nil likewise
	Suggested float64   `json:"suggested"` // learning rate; 0: none
	Verdict   string    `json:"verdict"`   // for people
}

// Place is a rate, and the smoothed loss there in nats per second of sound.
type Place struct {
	Rate float64 `json:"rate"`
	Loss float64 `json:"loss"`
}

// NewWeights is the start of a test of a network that has learned nothing.
const NewWeights = "new weights"

// The ends of a test.
const (
	Diverged    = "the loss was four times its best"
	NotFinite   = "the loss was no finite number any more"
	Interrupted = "it was interrupted"
	Complete    = "that was its last rate"
)

const (
	leastFall = 0.05   // share of the loss at the start that a fall has to be
	share     = 1. / 6 // of the bound: what is suggested
	wild      = 0.5    // share of the loss: a deviation of single updates that hides what there may be to see
	alike     = 2.5    // standard errors, that a loss which isn't higher than the lowest may be above it by chance
)

// Judge says what a test has shown that began with some weights and ended for some reason.
//
// Suggested is a sixth of the bound, in two digits: of the highest rate with which the smoothed loss is as low as at
// its lowest, as far as can be told. From there on updates destroy more than they teach, so it bounds the rates to
// train with from above; Smith (section 3.3) has their range begin at a third or a quarter of the bound, and a training
// of more than 200 updates gets further with less. The curve is flat at its bottom, and where it is lowest is for the
// most part chance: from seed to seed that place differs, by its logarithm, up to twice as much as the bound. Two other
// usual choices are told beside it: a tenth of the rate with the lowest loss (as fastai's finder has it), with which a
// short run gets less far, and the rate at which the loss falls fastest, which is far too low for a new network with
// CTC: its loss falls fastest while it learns nothing but how rare letters are.
func (t *Test) Judge(start, end string) Result {
	n := len(t.Points)
	r := Result{Start: start, End: end, Updates: n, Rates: make([]float64, n), Losses: make([]float64, n), Smoothed: smooth(t.Points)}
	for i, p := range t.Points {
		r.Rates[i], r.Losses[i] = p.Rate, p.Loss/p.Audio
	}
	if n < fewest {
		r.Verdict = fmt.Sprintf("%d of %d updates were made: too few to suggest a learning rate", n, Updates)
		return r
	}
	lowest := 0
	for i, v := range r.Smoothed {
		if v < r.Smoothed[lowest] {
			lowest = i
		}
	}
	deviation := r.deviation(max(lowest+1, fewest, n/2))
	noise := r.Smoothed[0] * max(leastFall, 4*atEnd*deviation)
	bound := n - 1
	for r.Smoothed[bound] > r.Smoothed[lowest]*(1+alike*within*deviation) {
		bound--
	}
	rose := end == Diverged || end == NotFinite
	if r.Smoothed[0]-r.Smoothed[lowest] < noise {
		r.Verdict = r.noFall(r.rises(noise, rose))
		if deviation > wild {
			r.Verdict += fmt.Sprintf(". Single updates differ by %.0f %% here, which hides much: look with a larger batch_size or grad_accum", 100*deviation)
		}
		return r
	}
	r.Lowest, r.Steepest = r.place(lowest), r.place(r.steepest(lowest))
	switch {
	case bound >= n-fewest/2 && !rose:
		r.Verdict = fmt.Sprintf("the loss was as low as ever when the test ended, at %.2g: the rate from which on it rises isn't known, and so none is suggested", r.Rates[n-1])
		return r
	case share*r.Rates[bound] < First:
		r.Verdict = fmt.Sprintf("the loss rises from %.2g on already: no rate that is tested is low enough, and none is suggested", r.Rates[min(bound+1, n-1)])
		return r
	}
	r.Bound = r.place(bound)
	r.Suggested, _ = strconv.ParseFloat(fmt.Sprintf("%.1e", share*r.Bound.Rate), 64)
	r.Verdict = fmt.Sprintf("suggested: learning_rate %g, a sixth of %.2g, up to which the loss is as low as at its lowest (%.3g nats a second at %.2g), as far as can be told; "+
		"others take a tenth of the rate with the lowest loss, %.2g, or the rate at which it falls fastest, %.2g",
		r.Suggested, r.Bound.Rate, r.Lowest.Loss, r.Lowest.Rate, r.Lowest.Rate/10, r.Steepest.Rate)
	if start != NewWeights {
		r.Verdict += ". These weights have learned already, and a training that goes on makes good again what the first updates of a higher rate spoil: " +
			"look at three times the rate too, and at ten times where there is much to learn"
	}
	return r
}

func (r *Result) place(i int) *Place { return &Place{r.Rates[i], r.Smoothed[i]} }

// The standard error of a smoothed loss, over that of a single update: of a mean with the weights near^i on both sides
// it is the root of the sum of the squared weights, over their sum; at an end of the curve there is one side.
var (
	within = math.Sqrt((1+near*near)/(1-near*near)) * (1 - near) / (1 + near)
	atEnd  = math.Sqrt((1 - near) / (1 + near))
)

// deviation is the standard deviation of single updates, as a share of the smoothed loss. It is seen in the first n
// (where the loss diverges they are far from it in any case), by their differences from one to the next, as a trend is
// no noise: their mean square is twice the variance (von Neumann 1941).
func (r *Result) deviation(n int) float64 {
	sum, last := 0., r.Losses[0]/r.Smoothed[0]
	for i := 1; i < n; i++ {
		share := r.Losses[i] / r.Smoothed[i]
		sum += (share - last) * (share - last)
		last = share
	}
	return math.Sqrt(sum / (2 * float64(n-1)))
}

// steepest is where the smoothed loss falls fastest before a place.
func (r *Result) steepest(before int) int {
	best, fall := 0, 0.
	for i := 1; i < before; i++ {
		if f := r.Smoothed[i-1] - r.Smoothed[i+1]; f > fall {
			best, fall = i, f
		}
	}
	return best
}

// rises is the update from which on the smoothed loss is higher than at the start by more than noise; of a test that
// was ended by a rise that doesn't stand out, the one from which on it is more than half way up, by logarithms. Where
// it doesn't rise it is the number of updates.
func (r *Result) rises(noise float64, rose bool) int {
	from := func(height float64) int {
		i := r.Updates
		for i > 0 && r.Smoothed[i-1] > height {
			i--
		}
		return i
	}
	first, last := r.Smoothed[0], r.Smoothed[r.Updates-1]
	if i := from(first + noise); i < r.Updates || !rose {
		return i
	}
	return min(from(math.Sqrt(first*max(first, last))), r.Updates-1)
}

// noFall is the verdict where no rate makes the loss lower. rises is the first update with which it is higher, if any.
func (r *Result) noFall(rises int) string {
	first := r.Smoothed[0]
	what := fmt.Sprintf("no rate makes the loss lower than it was at the start, %.3g nats a second, by more than chance may", first)
	switch {
	case rises == len(r.Smoothed) && r.End == Interrupted:
		return fmt.Sprintf("up to a rate of %.2g, at which the test was interrupted, the loss is what it was at the start, %.3g nats a second, and so no rate is suggested",
			r.Rates[rises-1], first)
	case rises == len(r.Smoothed):
		return what + ", and none higher: nothing is learned, and no rate is suggested. Look what is frozen, and whether all texts belong to their sound"
	case rises < fewest/2:
		return what + ": it is higher from the first rates on, and none is suggested. Look whether all texts belong to their sound"
	}
	return fmt.Sprintf("%s, and from %.2g on it is higher: these weights have little to gain in so few updates, and none is suggested; "+
		"to go on from them all the same, begin with a sixth of that one or less, %.2g", what, r.Rates[rises], share*r.Rates[rises])
}
