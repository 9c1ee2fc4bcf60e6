package train

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/model"
)

// Validation scores every utterance, whatever the batch size: the same loss, hypotheses and counts.
func TestEvaluationIsTheSameInAnyBatch(t *testing.T) {
	cfg := tiny(t, speak(t, babble(10, 6, 1)...))
	cfg.Data.ValManifest = speak(t, babble(10, 6, 2)...)
	run := start(t, cfg, nil)
	run.layout.View(run.weights.Floats(), "ctc.bias")[0] = -1 // fewer blanks, so that something comes out
	var want *Evaluation
	var wantHyps []string
	for _, batch := range []int{1, 3, 4, 10} {
		for _, dropout := range []float64{0.1, 0.9} {
			run.net.Dropout = dropout
			run.programs.Limit = 1 // forget the programs of other settings
			var hyps []string
			loss := 0.0
			e, err := run.evaluate(t.Context(), run.val, batch, func(h Hypothesis) error {
				hyps = append(hyps, h.Utt.ID+" "+h.Text)
				loss += h.Loss
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			e.Took = 0
			if want == nil {
				want, wantHyps = e, hyps
			}
			if e.Score.Utterances != 10 || len(hyps) != 10 || !(math.Abs(loss/10-float64(e.Loss)) <= 1e-12*loss) {
				t.Errorf("batch %d: %d utterances scored, %d given out, mean loss %v of %v", batch, e.Score.Utterances, len(hyps), e.Loss, loss)
			}
			if !(math.Abs(float64(e.Loss-want.Loss)) <= productTolerance*float64(want.Loss)) || e.Score.String() != want.Score.String() || e.BlankShare != want.BlankShare {
				t.Errorf("batch %d: %v, want %v", batch, e, want)
			}
			if !slices.Equal(hyps, wantHyps) {
				t.Errorf("batch %d: %q, want %q", batch, hyps, wantHyps)
			}
		}
	}
	if want.Score.EmptyHyps == 10 {
		t.Error("all output is empty: this test says nothing")
	}
}

// Files that can't be read any more count as empty output, and are named.
func TestEvaluationNamesFilesThatFail(t *testing.T) {
	manifest := speak(t, babble(4, 4, 1)...)
	cfg := tiny(t, manifest)
	cfg.Data.ValManifest = manifest
	var said bytes.Buffer
	run := start(t, cfg, &said)
	if err := writeFile(filepath.Join(filepath.Dir(manifest), "002.wav"), "no sound"); err != nil {
		t.Fatal(err)
	}
	if err := run.validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if run.state.BestStep != 0 || run.state.Best == nil || run.state.Best.Failed != 1 {
		t.Fatalf("best: %+v", run.state.Best)
	}
	// The mean is over the three that were read.
	var total, read float64
	e, err := run.evaluate(t.Context(), run.val, 2, func(h Hypothesis) error {
		total += h.Loss
		if h.Err == nil {
			read++
		}
		return nil
	})
	if err != nil || read != 3 || float64(e.Loss) != total/3 {
		t.Errorf("the mean loss is %v (%v), want the sum of all %v by 3", e.Loss, err, total)
	}
	// Both parts have the same divisor; about ten roundings of 1.1e-16 lie between.
	if want := 0.3*float64(e.CTC) + 0.7*float64(e.CE); !(math.Abs(float64(e.Loss)-want) <= 1.1e-15*want) {
		t.Errorf("the loss is %v, its parts %v and %v make %v", e.Loss, e.CTC, e.CE, want)
	}
	mustContain(t, said.String(), "1 file failed", "WARNING: 1 file of "+manifest+" can't be read any more", "utt02", "002.wav")
}

// A validation that could read nothing is neither better nor worse than another.
func TestEvaluationWithoutAnyFile(t *testing.T) {
	manifest := speak(t, babble(4, 4, 1)...)
	cfg := tiny(t, manifest)
	cfg.Data.ValManifest, cfg.Run.BlankAlarm = manifest, 0
	var said bytes.Buffer
	run := start(t, cfg, &said)
	for i := range 4 {
		if err := os.Remove(filepath.Join(filepath.Dir(manifest), fmt.Sprintf("%03d.wav", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if run.state.Best != nil || run.state.Stale != 0 {
		t.Errorf("it counts: %+v", run.state.judgement)
	}
	mustContain(t, said.String(), "not counted: none of the files can be read", "WARNING: 4 files of")
	if strings.Contains(said.String(), "ALARM") {
		t.Errorf("an alarm for files that are not there:\n%s", said.String())
	}
}

// A pass without gradients takes less memory than one with them, at every shape.
func TestEvaluationBuildsNoBackwardPass(t *testing.T) {
	c := open(t, tinyNetwork(4, 1), 1, false)
	for _, shape := range []model.Shape{{Batch: 1, Frames: 16, Tokens: 4}, {Batch: 4, Frames: 320, Tokens: 16}} {
		train, err := c.programs.Get(programKey{shape, true})
		if err != nil {
			t.Fatal(err)
		}
		eval, err := c.programs.Get(programKey{shape, false})
		if err != nil {
			t.Fatal(err)
		}
		if eval.Grads != nil || eval.ArenaBytes() >= train.ArenaBytes() {
			t.Errorf("%+v: %d bytes without gradients %v, %d bytes with", shape, eval.ArenaBytes(), eval.Grads, train.ArenaBytes())
		}
	}
}

// A long utterance in the validation set is planned for before the first update, and costs no training memory.
func TestLongValidationIsPlanned(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(6, 4, 1)...)))
	cfg.Data.ValManifest = speak(t, spoken{id: "long", text: letters, samples: 60 * 16000}, spoken{id: "short", text: "abc"})
	cfg.Optimizer.MaxUpdates, cfg.Run.EvalEvery, cfg.Run.CPUWorkers = 1, 1, 1
	run := start(t, cfg, nil)
	planned := run.dev.Usage()
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := run.dev.Usage(); got != planned {
		t.Errorf("%+v after validation, %+v were planned", got, planned)
	}
	if e := run.state.Score; e == nil || e.Score.Utterances != 2 || !(math.Abs(e.Audio-60.36) <= 0.01) {
		t.Errorf("%+v: want 2 utterances, 60.36 s", e)
	}
}

func TestBetterGoesByWordsThenCharactersThenLoss(t *testing.T) {
	e := func(wer, cer, loss float64) *Evaluation { return &Evaluation{WER: wer, CER: cer, Loss: Nats(loss)} }
	order := []*Evaluation{e(0.1, 0.5, math.NaN()), e(0.2, 0.1, 9), e(0.2, 0.2, 1), e(0.2, 0.2, 2), e(0.2, 0.2, math.NaN())}
	for i := range order {
		for j := range order {
			if got := order[i].better(order[j]); got != (i < j) {
				t.Errorf("%d better than %d: %v", i, j, got)
			}
		}
	}
	if !order[3].better(nil) {
		t.Error("the first score is not the best so far")
	}
	if s := fmt.Sprint(order[0]); s == "" {
		t.Error("nothing to print")
	}
}
