package update

import (
	"math"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// A window's cross-entropy is the sum over all tokens divided by the utterances, not a mean of means: with a
// decoder that finds everything equally likely each of the 200 tokens and 4 ends costs ln V.
func TestLossesAreSumsOverTokens(t *testing.T) {
	net := tinyNetwork(2, 1)
	r := newRig(t, net, 2)
	for _, name := range []string{"decoder.out.weight", "decoder.out.bias"} {
		r.edit(engine.Weights, name, func(w []float32) { clear(w) })
	}
	out := mustUpdate(t, New(net, r.Replica, options), windowOfFour(net))
	if want := 204 * math.Log(float64(net.Vocab)); !(math.Abs(out.CE-want) <= 2e-6*want) || out.Utterances != 4 {
		t.Errorf("cross-entropy of the window is %v over %d utterances, want %v over 4", out.CE, out.Utterances, want)
	}
	if want := 0.3*out.CTC + 0.7*out.CE; !(math.Abs(out.Loss-want) <= 1e-9*want) {
		t.Errorf("loss is %v, want %v", out.Loss, want)
	}
	if want := 6.05; !(math.Abs(out.Audio-want) <= 1e-9) {
		t.Errorf("%v s of sound, want %v", out.Audio, want)
	}
}

// An update with one utterance at a time takes as much memory for a window of 64 as for one of 4.
func TestAccumulationTakesNoMemory(t *testing.T) {
	net := tinyNetwork(4, 1)
	var peaks []engine.Usage
	for _, rows := range []int{4, 16, 64} {
		var window []*data.Example
		for i := range rows {
			window = append(window, noise(i, 80, net.NumMels, tokensFor(5)...))
		}
		r := newRig(t, net, 1)
		o := options
		o.BatchSize = 2
		u := New(net, r.Replica, o)
		for range 2 {
			mustUpdate(t, u, window)
		}
		peaks = append(peaks, r.Usage())
	}
	if peaks[0] != peaks[1] || peaks[0] != peaks[2] {
		t.Errorf("in use with windows of 4, 16 and 64: %+v", peaks)
	}
}

// Each window, the partial one as well, is the sum over its utterances divided by their number, and nothing is
// carried over from one window or epoch to the next.
func TestTailWindowIsDividedByItsOwnCount(t *testing.T) {
	var example struct {
		Slopes []float64
		Accum  int
		Trace  []struct {
			Utterances int
			Grad       float64
		}
	}
	numbers(t, "accumulate.json", &example)
	net := tinyNetwork(4, 1)
	net.Dropout = 0
	var all []*data.Example
	for i := range example.Slopes {
		all = append(all, noise(i, 40+7*i, net.NumMels, tokensFor(3+i)...))
	}
	r, alone := newRig(t, net, 1), newRig(t, net, 1)
	o := options
	o.BatchSize = 1
	u := New(net, r.Replica, o)
	next := 0
	for k, line := range example.Trace {
		// The example itself: utterance i has the slope i.
		sum := 0.0
		var window []*data.Example
		for range line.Utterances {
			sum += example.Slopes[next%len(all)]
			window = append(window, all[next%len(all)])
			next++
		}
		if sum/float64(line.Utterances) != line.Grad {
			t.Fatalf("the worked example doesn't divide by its own count: %+v", line)
		}
		for _, p := range model.Parameters(net) {
			alone.edit(engine.Weights, p.Name, func(w []float32) { copy(w, r.read(engine.Weights, p.Name)) })
			r.edit(engine.FirstMoments, p.Name, func(m []float32) { clear(m) })
		}
		var want []float32
		for i := range window {
			one := window[i : i+1]
			_, g := alone.gradient(one, dealt(one, net, 1, 1), 1)
			if want == nil {
				want = make([]float32, len(g))
			}
			for j, v := range g {
				want[j] += v / float32(line.Utterances)
			}
		}
		mustUpdate(t, u, window)
		if u.Updates != k+1 {
			t.Fatalf("%d updates after window %d", u.Updates, k)
		}
		got := r.all(engine.FirstMoments) // from zero, without clipping: (1 - Beta1) times the gradient
		for i := range got {
			got[i] /= 1 - engine.Beta1
		}
		testkit.CloseRel(t, "gradient of the window", got, want, 1e-6) // float32, divided before and after the sum
	}
}

// counting is a replica that counts what it is asked for.
type counting struct {
	Replica
	prepared int
	runs     map[Variant]int
	fail     []error // of the next calls of Prepare
}

func (c *counting) Prepare(batches []engine.Batch[Variant], bytes int64) error {
	c.prepared++
	if len(c.fail) > 0 {
		err := c.fail[0]
		if c.fail = c.fail[1:]; err != nil {
			return err
		}
	}
	return c.Replica.Prepare(batches, bytes)
}

func (c *counting) Run(p *engine.Pass[Variant]) error {
	if c.runs == nil {
		c.runs = map[Variant]int{}
	}
	for _, b := range p.Batches {
		c.runs[b.Key]++
	}
	return c.Replica.Run(p)
}

// FLOPs are those of the programs that an update runs.
func TestFLOPs(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := newRig(t, net, 2)
	c := &counting{Replica: r.Replica}
	u := New(net, c, options)
	window := windowOfFour(net)
	got, err := u.FLOPs(window)
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, u, window)
	want := 0.0
	for v, times := range c.runs {
		prices, err := r.Prices([]Variant{v})
		if err != nil {
			t.Fatal(err)
		}
		want += float64(times) * prices[0].FLOPs
	}
	if got != want || got < 1e6 {
		t.Errorf("%v floating-point operations, want %v", got, want)
	}
}
