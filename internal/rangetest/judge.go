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
	Steepest  *Place    `json:"steepest"`  // where it falls fastest with the logarithm of the rate; nil likewise
	Suggested float64   `json:"suggested"` // learning rate; 0: none
	Verdict   string    `json:"verdict"`   // for people
}

// Place is a rate, and the smoothed loss there in nats per second of sound.
type Place struct {
	Rate float64 `json:"rate"`
	Loss float64 `json:"loss"`
}

// The ends of a test.
const (
	Diverged    = "the loss was four times its best"
	NotFinite   = "the loss was no finite number any more"
	Interrupted = "it was interrupted"
	Complete    = "that was its last rate"
)

const (
	fewest    = 20     // updates that anything can be said of
	leastFall = 0.05   // share of the loss at the start that a fall has to be
	share     = 1. / 3 // of the rate with the lowest loss: what is suggested
)

// Judge says what a test has shown that began with some weights and ended for some reason.
//
// Suggested is a third of the rate at which the smoothed loss is lowest, in two digits. At that rate itself gains and
// losses already balance, so it bounds the rates to train with from above; Smith (section 3.3) has their range begin at
// a third or a quarter of the bound. Two other usual choices are told beside it: a tenth of the rate (as fastai's
// finder has it), with which a short run gets less far, and the rate at which the loss falls fastest, which is far too
// low for a new network with CTC: its loss falls fastest while it learns nothing but how rare letters are.
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
	noise := r.noise(max(lowest+1, fewest))
	if r.Smoothed[0]-r.Smoothed[lowest] < noise || share*r.Rates[lowest] < First {
		r.Verdict = r.noFall(noise)
		return r
	}
	r.Lowest, r.Steepest = r.place(lowest), r.place(r.steepest(lowest))
	if lowest >= n-fewest/2 && end != Diverged && end != NotFinite {
		r.Verdict = fmt.Sprintf("the loss still fell when the test ended, at %.2g: the rate with the lowest loss isn't known, and so none is suggested", r.Rates[n-1])
		return r
	}
	r.Suggested, _ = strconv.ParseFloat(fmt.Sprintf("%.1e", share*r.Lowest.Rate), 64)
	r.Verdict = fmt.Sprintf("suggested: learning_rate %g, a third of %.2g, at which the loss is lowest (%.3g nats a second); "+
		"others take a tenth of it, %.2g, or the rate at which the loss falls fastest, %.2g",
		r.Suggested, r.Lowest.Rate, r.Lowest.Loss, r.Lowest.Rate/10, r.Steepest.Rate)
	return r
}

func (r *Result) place(i int) *Place { return &Place{r.Rates[i], r.Smoothed[i]} }

// noise is how much the smoothed loss may change by chance, or without being worth a word: four standard errors of a
// mean at an end of the curve, or a twentieth of the first one. That mean has the weights keep^i, of which the squared
// sum over the sum of squares is (1+keep)/(1-keep), its number of equal updates. How far single updates are from their
// mean is seen in the first n (where the loss diverges they are far from it in any case), by their differences from one
// to the next, as a trend is no noise: their mean square is twice the variance (von Neumann 1941).
func (r *Result) noise(n int) float64 {
	sum, last := 0., r.Losses[0]/r.Smoothed[0]
	for i := 1; i < n; i++ {
		share := r.Losses[i] / r.Smoothed[i]
		sum += (share - last) * (share - last)
		last = share
	}
	const equal = (1 + keep) / (1 - keep)
	deviation := r.Smoothed[0] * math.Sqrt(sum/(2*float64(n-1))/equal)
	return max(leastFall*r.Smoothed[0], 4*deviation)
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

// noFall is the verdict where no rate makes the loss lower.
func (r *Result) noFall(noise float64) string {
	first := r.Smoothed[0]
	rises := len(r.Smoothed) // from here on it is higher
	for rises > 0 && r.Smoothed[rises-1] > first+noise {
		rises--
	}
	what := fmt.Sprintf("no rate makes the loss lower than it was at the start, %.3g nats a second, by more than chance may", first)
	switch {
	case rises == len(r.Smoothed) && r.End == Interrupted:
		return fmt.Sprintf("up to a rate of %.2g, at which the test was interrupted, the loss is what it was at the start, %.3g nats a second, and so no rate is suggested",
			r.Rates[rises-1], first)
	case rises < fewest/2:
		return what + ": it is higher from the first rates on, and none is suggested. Look whether all texts belong to their sound"
	case rises < len(r.Smoothed):
		return fmt.Sprintf("%s, and from %.2g on it is higher: these weights have little to gain in so few updates. None is suggested; stay well below that one",
			what, r.Rates[rises])
	}
	return what + ", and none higher: nothing is learned, and no rate is suggested. Look what is frozen, and whether all texts belong to their sound"
}
