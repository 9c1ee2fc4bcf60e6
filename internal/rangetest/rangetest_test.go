package rangetest

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

// run is a test whose updates have losses, in nats per second, that a function of the decades over the first rate says,
// in windows of several lengths. It ends as a test does.
func run(loss func(decades float64) float64) (*Test, string) {
	t := &Test{}
	for k := 1; k <= Updates; k++ {
		audio := 3 + float64(k%5)
		if t.Add(Point{Rate(k), audio * loss(math.Log10(Rate(k)/First)), audio}) {
			return t, Diverged
		}
	}
	return t, Complete
}

// wave is a number from -1 to 1 that looks drawn.
func wave(decades float64) float64 {
	_, part := math.Modf(43758.5453 * math.Sin(1000*decades))
	return part
}

func TestRatesRiseEvenly(t *testing.T) {
	if Rate(1) != First || math.Abs(Rate(Updates)/Last-1) > 1e-12 { // of a power
		t.Errorf("rates go from %v to %v", Rate(1), Rate(Updates))
	}
	step := Rate(2) / Rate(1)
	for k := 2; k < Updates; k++ {
		if got := Rate(k+1) / Rate(k); !(math.Abs(got/step-1) <= 1e-12) {
			t.Fatalf("update %d has %v times the rate before it, the second %v", k+1, got, step)
		}
	}
}

// The smoothed curve is the mean with weights 0.92^distance of nats over that of seconds, written down as it is meant.
func TestSmooth(t *testing.T) {
	test, _ := run(func(d float64) float64 { return 10 + 3*wave(d) })
	got := smooth(test.Points)
	for i := range test.Points {
		nats, seconds := 0., 0.
		for j, p := range test.Points {
			w := math.Pow(0.92, math.Abs(float64(i-j)))
			nats, seconds = nats+w*p.Loss, seconds+w*p.Audio
		}
		if want := nats / seconds; !(math.Abs(got[i]-want) <= 1e-13*want) { // sums of 200 terms in another order
			t.Errorf("point %d is %v, want %v", i, got[i], want)
		}
	}
}

// A test ends with the first update whose mean is over four times the lowest one, and a first update never ends it. The
// mean is one over sound: how it is cut into windows doesn't matter, and it doesn't begin at 0.
func TestAddEndsWhereTheLossIsFar(t *testing.T) {
	var test Test
	for i := range 30 { // too few for anything to be far
		if audio := float64(1 + i%3); test.Add(Point{1, 5 * audio, audio}) || math.Abs(test.loss/test.audio-5) > 1e-14 {
			t.Fatalf("update %d: mean %v", i+1, test.loss/test.audio)
		}
	}
	// From 5 the mean goes a 25th of the way to 40 with each update: 5 + 35 (1 - 0.96^n) is 20 at n = 13.7.
	test = Test{}
	for range 40 {
		if test.Add(Point{1, float64(1 + 99*(len(test.Points)%2)), 1}) {
			t.Fatalf("it is over after %d updates", len(test.Points))
		}
	}
	test = Test{}
	for range 300 { // so long that a start at 0 is forgotten
		test.Add(Point{1, 5, 1})
	}
	for n := 1; n <= 14; n++ {
		if far := test.Add(Point{1, 40, 1}); far != (n == 14) {
			t.Errorf("%d updates at 40: over is %v", n, far)
		}
	}
}

// valley falls over two decades from 10^-5 on, is lowest at 10^-2.5, and rises.
func valley(d float64) float64 {
	fall := 1 / (1 + math.Exp(4*(d-2))) // half at two decades: 10^-4
	return 8 + 32*fall + 3*math.Abs(d-3.5) + 100*max(d-5, 0)
}

// A rate that is a sixth of the bound is suggested, up to which the loss is as low as at its lowest; where it falls
// fastest is told beside it.
func TestJudge(t *testing.T) {
	for name, loss := range map[string]func(float64) float64{
		"smooth": valley,
		"noisy":  func(d float64) float64 { return valley(d) * (1 + 0.2*wave(d)) },
	} {
		test, end := run(loss)
		r := test.Judge("new weights", end)
		decades := func(rate, want float64) float64 { return math.Abs(math.Log10(rate / want)) }
		// A mean over some twenty updates on both sides, of 33 in a decade, is lowest within half a decade of the bottom: the
		// steeper side weighs more. What can't be told from it by chance goes no further up than that again.
		if end != Diverged || r.Updates == Updates || r.Lowest == nil || decades(r.Lowest.Rate, math.Pow(10, -2.5)) > 0.5 || decades(r.Steepest.Rate, 1e-4) > 0.35 ||
			!(r.Bound.Rate >= r.Lowest.Rate && decades(r.Bound.Rate, r.Lowest.Rate) < 0.5) {
			t.Fatalf("%s: %s, lowest %+v, bound %+v, steepest %+v", name, end, r.Lowest, r.Bound, r.Steepest)
		}
		if !(math.Abs(r.Suggested/(r.Bound.Rate/6)-1) <= 0.05) { // two digits of it
			t.Errorf("%s: suggested is %v, with a bound of %v", name, r.Suggested, r.Bound.Rate)
		}
		testkit.MustContain(t, r.Verdict, fmt.Sprintf("suggested: learning_rate %g, a sixth of %.2g, ", r.Suggested, r.Bound.Rate), fmt.Sprintf("a tenth of the rate with the lowest loss, %.2g, ", r.Lowest.Rate/10), fmt.Sprintf("falls fastest, %.2g", r.Steepest.Rate))
	}
}

// Where the curve is flat its lowest place is chance. What is suggested hangs on where it rises: here from 10^-2 on.
func TestSuggestionsAreSteady(t *testing.T) {
	var lowest, suggested []float64
	for seed := range 100 {
		draw := rand.New(rand.NewPCG(uint64(seed), 1))
		test, end := run(func(d float64) float64 {
			return (8 + 32*max(1-d/2.2, 0) + 10*max(d-4, 0)) * (1 + 0.13*draw.NormFloat64()) // as much as updates of speech differ
		})
		r := test.Judge("new weights", end)
		if r.Suggested == 0 {
			t.Fatalf("seed %d: %s", seed, r.Verdict)
		}
		lowest, suggested = append(lowest, r.Lowest.Rate), append(suggested, r.Suggested)
	}
	if apart := slices.Max(lowest) / slices.Min(lowest); apart < 3.5 {
		t.Errorf("the lowest losses are within a factor of %.2g: there is nothing to be steady against", apart)
	}
	// 100 seeds are some 5 standard deviations apart: of 0.07 decades, where the place of the lowest has 0.12.
	if low, high := slices.Min(suggested), slices.Max(suggested); high/low > 2.3 || low < 1e-2/30 || high > 1e-2/3 {
		t.Errorf("from %v to %v is suggested where the loss rises from 0.01 on", low, high)
	}
}

// Trained weights gain little before their loss diverges: how wildly it does says nothing of the part before.
func TestJudgeSeesASmallFallBeforeAWildRise(t *testing.T) {
	test, end := run(func(d float64) float64 {
		return 5*(1-0.15*min(d/3, 1)) + 5*max(d-3.5, 0)*(1+0.95*wave(d))
	})
	if r := test.Judge("trained weights", end); r.Lowest == nil || math.Abs(math.Log10(r.Lowest.Rate/First)-3) > 0.5 {
		t.Errorf("lowest is %+v: %s", r.Lowest, r.Verdict)
	}
}

// What weights that have learned make of single windows differs tenfold and more. That ends no test, and where the loss
// has gone up for good it is said from which rate on, if not what to train with.
func TestTrainedWeights(t *testing.T) {
	for seed := range 100 {
		draw := rand.New(rand.NewPCG(uint64(seed), 2))
		test, end := run(func(d float64) float64 {
			return (1 + 30*max(d-3.5, 0)) * math.Exp(0.9*draw.NormFloat64()-0.405) // 1 in the mean
		})
		r := test.Judge("runs/first/step-00000600", end)
		if last := r.Rates[r.Updates-1]; last < 3e-4 {
			t.Fatalf("seed %d: %s at a rate of %.2g", seed, end, last)
		}
		if r.Suggested == 0 && !(strings.Contains(r.Verdict, "is higher: these weights have little to gain") &&
			strings.Contains(r.Verdict, " % here, which hides much: look with a larger batch_size or grad_accum")) {
			t.Errorf("seed %d, %s after %d updates: %s", seed, end, r.Updates, r.Verdict)
		}
	}
	test, end := run(valley)
	testkit.MustContain(t, test.Judge("runs/first/step-00000600", end).Verdict, "suggested: learning_rate 0.000", "look at three times the rate too")
	if new := test.Judge(NewWeights, end); strings.Contains(new.Verdict, "three times") {
		t.Error(new.Verdict)
	}
}

// Where the losses show no such place nothing is suggested, and it is said what they do show.
func TestJudgeSuggestsNoNonsense(t *testing.T) {
	cut := func(loss func(float64) float64, n int) *Test {
		test, _ := run(loss)
		return &Test{Points: test.Points[:min(n, len(test.Points))]}
	}
	flat := func(d float64) float64 { return 5 + wave(d) }
	for name, c := range map[string]struct {
		test      *Test
		end, want string
	}{
		"interrupted at once":               {cut(valley, 0), Interrupted, "0 of 200 updates were made: too few"},
		"interrupted early":                 {cut(valley, 19), Interrupted, "19 of 200 updates were made: too few"},
		"interrupted on a fall":             {cut(valley, 70), Interrupted, "the loss was as low as ever when the test ended, at 0.00012: the rate from which on it rises isn't known"},
		"interrupted before anything moves": {cut(valley, 25), Interrupted, "up to a rate of 5.3e-06, at which the test was interrupted, the loss is what it was at the start"},
		"never better":                      {cut(flat, Updates), Complete, "and none higher: nothing is learned, and no rate is suggested"},
		"trained weights":                   {cut(func(d float64) float64 { return flat(d) + 5*max(d-3, 0) }, Updates), Complete, " on it is higher: these weights have little to gain in so few updates, and none is suggested; to go on from them all the same, begin with a sixth of that one or less, 3.7e-05"},
		"better for a moment":               {cut(func(d float64) float64 { return 30 - 25*min(d, 0.2)/0.2 + 30*max(d-0.2, 0) }, Updates), Diverged, "on already: no rate that is tested is low enough, and none is suggested"},
		"worse at once":                     {cut(func(d float64) float64 { return 5 * math.Exp(d) }, 40), Diverged, "it is higher from the first rates on, and none is suggested"},
		"no loss at all":                    {cut(func(d float64) float64 { return 0 }, Updates), Complete, "nothing is learned"},
	} {
		r := c.test.Judge("new weights", c.end)
		if r.Suggested != 0 {
			t.Errorf("%s: suggested is %v", name, r.Suggested)
		}
		testkit.MustContain(t, r.Verdict, c.want)
		testkit.MustContain(t, r.String(), r.Verdict)
		testkit.MustContain(t, written(t, name, r), html.EscapeString(r.Verdict))
	}
	if r := cut(valley, 140).Judge("new weights", Interrupted); r.Suggested == 0 || r.Updates != 140 {
		t.Errorf("behind the bottom there is enough to see: %s", r.Verdict)
	}
}

// valleyText is what valley looks like.
const valleyText = `learning rate range test from new weights: 194 updates, with rates from 1e-06 to 0.66 (the loss was four times its best)
  rate       loss (nats for a second of sound, smoothed)
  1e-06      49.16
  3.3e-06    47.92
  1.1e-05    44.99
  3.2e-05    39.1
  0.0001     27.99
  0.00032    17.7
  0.001      11.83
  0.0034     9.838
  0.01       10.72
  0.033      14.43
  0.1        25.43
  0.33       53.32
  0.66       65.84
    65.8 │                                                          ••
         │                                                        ••
         │•••••••••••••                                          •
         │             ••••                                    ••
         │                 •••                                •
    27.7 │                    ••                             •
         │                      ••                          •
         │                        ••                       •
         │                          ••                   ••
         │                            ••               ••
         │                              •••        ••••
    9.82 │                                 ••••••••
         └┴─────────┴─────────┴────────▲┴──────────┴─────────┴────────
          1e-6      1e-5      1e-4      1e-3       1e-2      1e-1
suggested: learning_rate 0.00069, a sixth of 0.0042, up to which the loss is as low as at its lowest (9.82 nats a second at 0.0036), as far as can be told; others take a tenth of the rate with the lowest loss, 0.00036, or the rate at which it falls fastest, 9.1e-05
`

// As text a result has its figures, a plot and the verdict; where the curve is steep the plot has no gap.
func TestText(t *testing.T) {
	test, end := run(valley)
	if diff := cmp.Diff(valleyText, test.Judge("new weights", end).String()); diff != "" {
		t.Error(diff)
	}
	cliff, end := run(func(d float64) float64 {
		if d < 3 {
			return 1.3
		}
		return 1
	})
	top, bottom := map[int]int{}, map[int]int{} // the lines of each column's first and last dot
	line := 0
	for text := range strings.Lines(cliff.Judge("new weights", end).String()) {
		if _, dots, ok := strings.Cut(text, "│"); ok {
			for x, c := range []rune(dots) {
				if c == '•' {
					if _, known := top[x]; !known {
						top[x] = line
					}
					bottom[x] = line
				}
			}
			line++
		}
	}
	steps := 0 // of more than a line
	for x := 1; x < plotWidth; x++ {
		if top[x] != bottom[x-1] && top[x] != bottom[x-1]+1 { // it falls all the way
			t.Errorf("column %d has dots from line %d to %d, the one before it from %d to %d", x, top[x], bottom[x], top[x-1], bottom[x-1])
		}
		if bottom[x] > top[x] {
			steps++
		}
	}
	if steps == 0 || len(top) != plotWidth || bottom[plotWidth-1] != plotHeight-1 {
		t.Errorf("%d steps of several lines, %d columns, the last down to line %d", steps, len(top), bottom[plotWidth-1])
	}
	if one := (&Test{Points: test.Points[:1]}).Judge("x", Interrupted).String(); !strings.Contains(one, "1e-06      50.49") {
		t.Errorf("of one update:\n%s", one)
	}
}

// The result as JSON comes back as it was, and has a figure for each update.
func TestJSON(t *testing.T) {
	test, end := run(valley)
	for _, want := range []Result{test.Judge("new weights", end), (&Test{}).Judge("x", Interrupted)} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Result
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if len(got.Rates) != got.Updates || len(got.Losses) != got.Updates || len(got.Smoothed) != got.Updates {
			t.Errorf("%d updates, and %d rates", got.Updates, len(got.Rates))
		}
	}
}
