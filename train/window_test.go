package train

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// numbers reads a file of worked examples.
func numbers(t testing.TB, name string, dst any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "numbers", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, dst); err != nil {
		t.Fatal(err)
	}
}

// Texts of very different lengths weigh alike however they are accumulated: the gradient is that of the sum.
func TestAccumulationIsTheLargerBatch(t *testing.T) {
	net := tinyNetwork(2, 1)
	c := open(t, net, 1, false)
	examples := windowOfFour(net)
	_, want := gradient(t, c, examples, chunks(examples, net, 1, 4), 0.25)
	for _, split := range [][]int{{2, 2}, {1, 1, 1, 1}, {3, 1}} {
		_, got := gradient(t, c, examples, chunks(examples, net, 1, split...), 0.25)
		if e := testkit.RelErr(got, want); e > 1e-6 { // float32 sums over 360 encoder frames in another order
			t.Errorf("split %v: the gradient is off by %.2g", split, e)
		}
		_, again := gradient(t, c, examples, chunks(examples, net, 1, split...), 0.25)
		if !slices.Equal(got, again) {
			t.Errorf("split %v: the same sums in the same order differ", split)
		}
	}
}

// windowOfFour is four utterances with 3, 10, 37 and 150 tokens, all of different length.
func windowOfFour(net model.Config) []*data.Example {
	var e []*data.Example
	for i, n := range []int{3, 10, 37, 150} {
		e = append(e, noise(i, []int{20, 45, 120, 420}[i], net.NumMels, tokensFor(n)...))
	}
	return e
}

// A window's cross-entropy is the sum over all tokens divided by the utterances, not a mean of means: with a
// decoder that finds everything equally likely each of the 200 tokens and 4 ends costs ln V.
func TestLossesAreSumsOverTokens(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 8, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 1, 4
	run := start(t, cfg, nil)
	for _, p := range run.params {
		if strings.HasPrefix(p.Name, "decoder.out.") {
			clear(run.layout.View(run.weights.Floats(), p.Name))
		}
	}
	w := windows(t, run, 1)[0]
	w.Examples = windowOfFour(run.net)
	out, err := run.update(w)
	if err != nil {
		t.Fatal(err)
	}
	if want := 204 * math.Log(float64(run.vocab.Size())); !(math.Abs(out.ce-want) <= 2e-6*want) || out.utterances != 4 {
		t.Errorf("cross-entropy of the window is %v over %d utterances, want %v over 4", out.ce, out.utterances, want)
	}
	if want := 0.3*out.ctc + 0.7*out.ce; !(math.Abs(out.loss-want) <= 1e-9*want) {
		t.Errorf("loss is %v, want %v", out.loss, want)
	}
}

// Accumulation costs no memory on the device: arenas and gradient buffers are the same for 1 and 16 passes.
func TestAccumulationTakesNoMemory(t *testing.T) {
	manifest := speak(t, babble(32, 8, 1)...)
	var peaks []int64
	for _, accum := range []int{1, 4, 16} {
		cfg := plain(tiny(t, manifest))
		cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs = 2, accum, 2
		cfg.Run.CPUWorkers = 1 // two would halve a window of one batch
		run := start(t, cfg, nil)
		planned := run.dev.Usage()
		if err := run.loop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := run.dev.Usage(); got != planned {
			t.Errorf("accumulation %d: %+v after two epochs, %+v were planned", accum, got, planned)
		}
		peaks = append(peaks, run.dev.Usage().Peak)
	}
	if slices.Max(peaks) != slices.Min(peaks) {
		t.Errorf("peaks with accumulation 1, 4, 16 are %v bytes", peaks)
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
	cfg := plain(tiny(t, speak(t, babble(len(example.Slopes), 8, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Run.CPUWorkers = 1, example.Accum, 1
	run := start(t, cfg, nil)
	alone := open(t, run.net, 1, false)
	next := 0
	for k, w := range windows(t, run, len(example.Trace)) {
		line := example.Trace[k]
		// The example itself: utterance i has the slope i.
		sum := 0.0
		for range line.Utterances {
			sum += example.Slopes[next%len(example.Slopes)]
			next++
		}
		if sum/float64(line.Utterances) != line.Grad {
			t.Fatalf("the worked example doesn't divide by its own count: %+v", line)
		}
		if len(w.Examples) != line.Utterances || w.Last != (k%2 == 1) {
			t.Fatalf("window %d holds %d utterances, want %d", k, len(w.Examples), line.Utterances)
		}
		copy(alone.weights.Floats(), run.weights.Floats())
		want := make([]float32, run.layout.Words)
		for i := range w.Examples {
			one := w.Examples[i : i+1]
			_, g := gradient(t, alone, one, deal(one, run.net, 1, 1), 1)
			for j, v := range g {
				want[j] += v / float32(line.Utterances)
			}
		}
		if _, err := run.update(w); err != nil {
			t.Fatal(err)
		}
		if run.optimizer.Updates != k+1 {
			t.Fatalf("%d updates after window %d", run.optimizer.Updates, k)
		}
		run.crew.Workers[0].Runs = 1 // the sum is in its buffer still
		got, _, err := run.crew.Reduce()
		if err != nil {
			t.Fatal(err)
		}
		testkit.CloseRel(t, "gradient of the window", got, want, 1e-6) // float32, divided before and after the sum
	}
}

// Fewer batches than grad_accum in the whole set are one window an epoch.
func TestAccumulationLongerThanAnEpoch(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(3, 8, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs = 1, 8, 1
	result, err := Run(t.Context(), cfg, nil)
	if err != nil || result.Updates != 1 || result.Epochs != 1 {
		t.Fatalf("%+v, %v: want 1 update in 1 epoch", result, err)
	}
	cfg.Optimizer.GradAccum = 0
	if _, err := Run(t.Context(), cfg, nil); err == nil {
		t.Error("grad_accum 0 was accepted")
	} else {
		mustContain(t, err.Error(), "grad_accum is 0")
	}
}

// A pass of more shapes than are kept otherwise keeps all of its own: nothing is compiled twice, nothing is bound that
// was dropped.
func TestManyShapesInAPass(t *testing.T) {
	c := open(t, tinyNetwork(4, 0), 2, false)
	build, built, dropped := c.programs.Build, 0, 0
	c.programs.Build = func(k programKey) (*engine.Program, error) { built++; return build(k) }
	c.programs.Dropped = func(*engine.Program) { dropped++ }
	var batches []microBatch
	for i := range programsKept + 10 {
		batches = append(batches, microBatch{worker: i % 2, shape: model.Shape{Batch: 1, Frames: 8 + i, Tokens: 1}})
	}
	for range 3 {
		if err := c.prepare(batches, false); err != nil {
			t.Fatal(err)
		}
	}
	if built != len(batches) || dropped != 0 {
		t.Errorf("%d programs were compiled and %d dropped, want %d and 0", built, dropped, len(batches))
	}
	if err := c.prepare(batches[:1], true); err != nil {
		t.Fatal(err)
	}
	if want := len(batches) + 1 - programsKept; dropped != want {
		t.Errorf("after a small pass %d are dropped, want %d", dropped, want)
	}
}
