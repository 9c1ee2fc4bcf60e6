package rangetest

import (
	"encoding/json"
	"fmt"
	"math"
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

// The smoothed curve is the mean with weights 0.9^distance of nats over that of seconds, written down as it is meant.
func TestSmooth(t *testing.T) {
	test, _ := run(func(d float64) float64 { return 10 + 3*wave(d) })
	got := smooth(test.Points)
	for i := range test.Points {
		nats, seconds := 0., 0.
		for j, p := range test.Points {
			w := math.Pow(0.9, math.Abs(float64(i-j)))
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
	for i := range 30 {
		if audio := float64(1 + i%3); test.Add(Point{1, 5 * audio, audio}) || math.Abs(test.loss/test.audio-5) > 1e-14 {
			t.Fatalf("update %d: mean %v", i+1, test.loss/test.audio)
		}
	}
	// From 5 the mean goes a tenth of the way to 40 with each update: 5 + 35 (1 - 0.9^n) is 20 at n = 5.3.
	test = Test{}
	for range 300 { // so long that a start at 0 is forgotten
		test.Add(Point{1, 5, 1})
	}
	for n := 1; n <= 6; n++ {
		if far := test.Add(Point{1, 40, 1}); far != (n == 6) {
			t.Errorf("%d updates at 40: over is %v", n, far)
		}
	}
}

// valley falls over two decades from 10^-5 on, is lowest at 10^-2.5, and rises.
func valley(d float64) float64 {
	fall := 1 / (1 + math.Exp(4*(d-2))) // half at two decades: 10^-4
	return 8 + 32*fall + 3*math.Abs(d-3.5) + 100*max(d-5, 0)
}

// A rate that is a third of that of the lowest loss is suggested; where the loss falls fastest is told beside it.
func TestJudge(t *testing.T) {
	for name, loss := range map[string]func(float64) float64{
		"smooth": valley,
		"noisy":  func(d float64) float64 { return valley(d) * (1 + 0.2*wave(d)) },
	} {
		test, end := run(loss)
		r := test.Judge("new weights", end)
		decades := func(rate, want float64) float64 { return math.Abs(math.Log10(rate / want)) }
		// A mean over some ten updates on both sides, of 33 in a decade, is lowest within a third of a decade of the bottom.
		if end != Diverged || r.Updates == Updates || r.Lowest == nil || decades(r.Lowest.Rate, math.Pow(10, -2.5)) > 0.35 || decades(r.Steepest.Rate, 1e-4) > 0.35 {
			t.Fatalf("%s: %s, lowest %+v, steepest %+v", name, end, r.Lowest, r.Steepest)
		}
		if !(math.Abs(r.Suggested/(r.Lowest.Rate/3)-1) <= 0.05) { // two digits of it
			t.Errorf("%s: suggested is %v, where the loss is lowest at %v", name, r.Suggested, r.Lowest.Rate)
		}
		testkit.MustContain(t, r.Verdict, fmt.Sprintf("suggested: learning_rate %g, a third of %.2g, ", r.Suggested, r.Lowest.Rate), fmt.Sprintf("a tenth of it, %.2g, ", r.Lowest.Rate/10), fmt.Sprintf("falls fastest, %.2g", r.Steepest.Rate))
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
		"interrupted on a fall":             {cut(valley, 70), Interrupted, "the loss still fell when the test ended, at 0.00012: the rate with the lowest loss isn't known"},
		"interrupted before anything moves": {cut(valley, 25), Interrupted, "up to a rate of 5.3e-06, at which the test was interrupted, the loss is what it was at the start"},
		"never better":                      {cut(flat, Updates), Complete, "and none higher: nothing is learned, and no rate is suggested"},
		"trained weights":                   {cut(func(d float64) float64 { return flat(d) + 5*max(d-3, 0) }, Updates), Complete, " on it is higher: these weights have little to gain"},
		"worse at once":                     {cut(func(d float64) float64 { return 5 * math.Exp(d) }, 40), Diverged, "it is higher from the first rates on, and none is suggested"},
		"no loss at all":                    {cut(func(d float64) float64 { return 0 }, Updates), Complete, "nothing is learned"},
	} {
		r := c.test.Judge("new weights", c.end)
		if r.Suggested != 0 {
			t.Errorf("%s: suggested is %v", name, r.Suggested)
		}
		testkit.MustContain(t, r.Verdict, c.want)
		_ = r.String()
	}
	if r := cut(valley, 140).Judge("new weights", Interrupted); r.Suggested == 0 || r.Updates != 140 {
		t.Errorf("behind the bottom there is enough to see: %s", r.Verdict)
	}
}

// valleyText is what valley looks like.
const valleyText = `learning rate range test from new weights: 182 updates, with rates from 1e-06 to 0.29 (the loss was four times its best)
  rate       loss (nats for a second of sound, smoothed)
  1e-06      49.55
  3.3e-06    48.37
  1.1e-05    45.67
  3.2e-05    39.88
  0.0001     27.96
  0.00032    16.94
  0.001      11.11
  0.0034     9.212
  0.01       9.944
  0.033      12.37
  0.1        20.11
  0.29       36.7
    49.6 │•••••••••••
         │           ••••••
         │                 •••                                      ••
         │                    ••                                   •
         │                      ••                                •
    23.1 │                        •                              •
         │                         ••                           •
         │                           •                         •
         │                            ••                     ••
         │                              ••                •••
         │                                •••         ••••
     9.2 │                                   •••••••••
         └┴──────────┴──────────┴─────────┴▲─────────┴──────────┴─────
          1e-6       1e-5       1e-4      1e-3       1e-2       1e-1
suggested: learning_rate 0.0012, a third of 0.0036, at which the loss is lowest (9.2 nats a second); others take a tenth of it, 0.00036, or the rate at which the loss falls fastest, 9.1e-05
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
