package train

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
)

// batchOfThree is an utterance with an empty target, one that is too short for its target, and one of 13 tokens.
func batchOfThree(c model.Config) []*data.Example {
	return []*data.Example{
		noise(1, 50, c.NumMels),
		noise(2, 30, c.NumMels, tokensFor(20)...),
		noise(3, 120, c.NumMels, tokensFor(13)...),
	}
}

// A bad utterance doesn't touch its neighbours: what goes back to the good one's features through the whole
// network is what it gets alone, bit for bit.
func TestBadUtterancesDontTouchTheirNeighbours(t *testing.T) {
	for _, decoder := range []int{0, 1} {
		t.Run(fmt.Sprintf("%d decoder layers", decoder), func(t *testing.T) {
			net := tinyNetwork(4, decoder)
			c := open(t, net, 1, false)
			shape := model.Shape{Batch: 3, Frames: 160, Tokens: 24}
			examples := batchOfThree(net)
			batch, losses := featureGradient(t, c, examples, shape)
			shape.Batch = 1
			alone, loss := featureGradient(t, c, examples[2:], shape)
			row := shape.Frames * net.NumMels
			if !slices.Equal(batch[2*row:], alone) || losses[2] != loss[0] {
				t.Errorf("the good utterance's gradient or loss (%v, alone %v) depends on the others", losses[2], loss[0])
			}
			for r, e := range examples {
				for i, v := range batch[r*row : (r+1)*row] {
					if i >= e.Frames*net.NumMels && v != 0 || v != v {
						t.Fatalf("the gradient of utterance %d at frame %d of %d is %v", r, i/net.NumMels, e.Frames, v)
					}
				}
			}
			if l := losses[1]; l.ctc != 0 || !l.infeasible || (l.ce > 0) != (decoder > 0) {
				t.Errorf("the infeasible utterance: %+v", l)
			}
			if l := losses[0]; l.ctc <= 0 || l.infeasible {
				t.Errorf("the empty target: %+v", l)
			}
			if decoder == 0 && slices.ContainsFunc(batch[row:2*row], func(v float32) bool { return v != 0 }) {
				t.Error("without a decoder, the infeasible utterance has a gradient")
			}
		})
	}
}

// featureGradient runs a program that also gives the gradient of the features, [B, T, F].
func featureGradient(t *testing.T, c *core, examples []*data.Example, shape model.Shape) ([]float32, []rowLoss) {
	t.Helper()
	net, err := model.Build(c.net, shape, true)
	if err != nil {
		t.Fatal(err)
	}
	var features *G.Node
	for _, n := range net.Graph.AllNodes() {
		if op.Children(n) == nil && n.Name() == model.Features {
			features = n
		}
	}
	grads := net.Graph.Grad(net.Loss, append(slices.Clone(net.Weights), features)...)
	if err := net.Graph.Err(); err != nil {
		t.Fatal(err)
	}
	n := len(net.Weights)
	spec := engine.Spec{Weights: net.Weights, Grads: grads[:n], Shared: net.Shared, Loss: net.Loss,
		Outputs: map[string]*G.Node{outCTC: net.CTC, "features": grads[n]}}
	if net.CE != nil {
		spec.Outputs[outCE] = net.CE
	}
	program, err := engine.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.crew.Reserve(program.ArenaBytes()); err != nil {
		t.Fatal(err)
	}
	b := microBatch{shape: shape}
	for i := range examples {
		b.rows = append(b.rows, i)
	}
	p := &pass{train: true, scale: 1.0 / 3, seed: 3, update: 5, losses: make([]rowLoss, len(examples))}
	var out []float32
	if err := c.crew.Do(func(w *engine.Worker) {
		m, err := w.Machine(program)
		if err != nil {
			panic(err)
		}
		c.fill(m, b, examples, p)
		w.Run(m)
		c.collect(m, b, examples, p)
		out = slices.Clone(m.Output("features").Data)
	}); err != nil {
		t.Fatal(err)
	}
	return out, p.losses
}

func TestCountersOfBadUtterances(t *testing.T) {
	run := start(t, plain(tiny(t, speak(t, babble(8, 4, 1)...))), nil)
	w := windows(t, run, 1)[0]
	w.Examples = batchOfThree(run.net)
	out, err := run.update(w)
	if err != nil || out.skipped != "" || out.infeasible != 1 || out.utterances != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	if p := run.state.Progress; p.Infeasible != 1 || p.Skipped != 0 || p.Failed != 0 || p.Utterances != 3 {
		t.Errorf("%+v", p)
	}
}

// A window in which CTC can learn nothing makes no update with zeros: the run says so. A decoder does learn.
func TestInfeasibleWindow(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	for decoder, updates := range []int{0, 1} {
		var said bytes.Buffer
		cfg := plain(tiny(t, manifest))
		cfg.Model.DecoderLayers = decoder
		run := start(t, cfg, &said)
		w := windows(t, run, 1)[0]
		w.Examples = []*data.Example{noise(1, 30, 20, tokensFor(20)...), noise(2, 20, 20, tokensFor(30)...)}
		before := snapshot(run)
		out, err := run.update(w)
		if err != nil || run.optimizer.Updates != updates || out.infeasible != 2 {
			t.Errorf("%d decoder layers: %+v, %v, %d updates", decoder, out, err, run.optimizer.Updates)
		}
		if decoder == 0 {
			mustContain(t, said.String(), "no update: all of its utterances have more characters than encoder frames")
			if !slices.Equal(before, snapshot(run)) {
				t.Error("it changed something all the same")
			}
		}
	}
}

// A weight that turns NaN stops the run, is named, and never reaches a checkpoint, wherever it is: in a
// matrix, in a bias, or where no utterance uses it (no text has an <unk> to look up).
func TestNaNWeightStopsTheRun(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	for name, at := range map[string]int{"encoder.blocks.1.ffn1.up.weight": 7, "encoder.subsample.conv.0.bias": 0, "decoder.embed.weight": 2 * 16, "ctc.bias": 0} {
		for _, fp16 := range []bool{false, true} {
			cfg := plain(tiny(t, manifest))
			cfg.Run.SaveEvery, cfg.Run.FP16 = 3, fp16
			run := start(t, cfg, nil)
			run.optimizer.Decay = 0
			last := 0
			run.hook = func(update int) {
				if last = update; update == 4 {
					run.layout.View(run.weights.Floats(), name)[at] = float32(math.NaN())
				}
			}
			err := run.loop(t.Context())
			if err == nil {
				t.Fatalf("%s: the run went on", name)
			}
			mustContain(t, err.Error(), "weight "+name+"[", "is NaN")
			if seen := run.state.Progress.Utterances / int64(cfg.Window()); last > 5 || seen > 7 {
				t.Errorf("%s: it was found after %d windows", name, seen)
			}
			c, damaged, err := checkpoint.Latest(cfg.Run.CheckpointDir)
			if err != nil || len(damaged) > 0 || c.Step != 3 {
				t.Fatalf("%s: the last checkpoint is %+v, %v, %v", name, c, damaged, err)
			}
		}
	}
}

// A weight that turned NaN just before a save is not saved.
func TestNaNIsNotSaved(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.SaveEvery = 1
	run := start(t, cfg, nil)
	run.hook = func(update int) {
		if update == 3 {
			run.layout.View(run.weights.Floats(), "ctc.weight")[2] = float32(math.Inf(-1))
		}
	}
	err := run.loop(t.Context())
	if err == nil {
		t.Fatal("it was saved")
	}
	mustContain(t, err.Error(), "weight ctc.weight[2] is -Inf after update 3")
	if c, _, _ := checkpoint.Latest(cfg.Run.CheckpointDir); c == nil || c.Step != 2 {
		t.Errorf("the last checkpoint is %+v, want update 2", c)
	}
}

// Where only blanks come out, an alarm says so from blank_alarm updates on, and the score is 100 %.
func TestBlankAlarm(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(4, 4, 1)...)))
	lines := make([]spoken, 10)
	for i := range lines {
		lines[i] = spoken{id: fmt.Sprint("v", i), text: "ab cd"}
	}
	cfg.Data.ValManifest, cfg.Data.UnknownLimit = speak(t, lines...), 1
	cfg.Run.EvalEvery, cfg.Run.BlankAlarm, cfg.Optimizer.MaxUpdates = 1, 2, 2
	run := start(t, cfg, &said)
	run.layout.View(run.weights.Floats(), "ctc.bias")[0] = 1000
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := run.state.Score
	if w := e.Score.Words; w.Errors() != 20 || w.Ref != 20 || e.WER != 1 || e.CER != 1 || e.BlankShare != 1 {
		t.Errorf("10 empty hypotheses against 20 words: %v", e)
	}
	mustContain(t, said.String(), "ALARM: after 2 updates", "all 10 validation utterances", "100.0 % of the frames are blank",
		"learning_rate", "too little data", "vocabulary")
	if n := bytes.Count(said.Bytes(), []byte("ALARM")); n != 1 {
		t.Errorf("%d alarms, want one, from update 2 on", n)
	}
}

// A file that goes bad during a run is named and left out; the others of its window train.
func TestFileThatGoesBad(t *testing.T) {
	var said bytes.Buffer
	manifest := speak(t, babble(4, 4, 1)...)
	run := start(t, plain(tiny(t, manifest)), &said)
	if err := writeFile(filepath.Join(filepath.Dir(manifest), "002.wav"), "no sound"); err != nil {
		t.Fatal(err)
	}
	w := windows(t, run, 1)[0]
	out, err := run.update(w)
	if err != nil || out.utterances != 3 || run.state.Progress.Failed != 1 || run.optimizer.Updates != 1 {
		t.Fatalf("%+v, %v, %+v", out, err, run.state.Progress)
	}
	mustContain(t, said.String(), "left out: utt02")
	var rest []*data.Example
	for _, e := range w.Examples {
		if e.Err == nil {
			rest = append(rest, e)
		}
	}
	alone := open(t, run.net, 2, false)
	alone.initialise(run.cfg.Run.Seed)
	_, want := gradient(t, alone, rest, deal(rest, run.net, 2, 2), 1.0/3)
	run.crew.Workers[0].Runs, run.crew.Workers[1].Runs = 1, 0 // the sum is in the first one's buffer still
	got, _, err := run.crew.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	// The same passes on the same workers, so the same bits.
	testkit.Close(t, "gradient of the three that are left", got, want, 0)
}

// Lengths: one rule for the filter and the loss.
func TestFeasibilityIsTheLosses(t *testing.T) {
	c, err := newCore(device.NewHost(), tinyNetwork(4, 0), 1, true, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.initialise(1)
	aab := []int32{3, 3, 4} // needs 4 encoder frames, 13 feature frames at factor 4
	for n, want := range map[int]bool{12: false, 13: true, 16: true} {
		if frames.Feasible(n, 4, aab) != want {
			t.Errorf("%d frames: feasible is %v", n, !want)
		}
		loss, _ := gradient(t, c, []*data.Example{noise(n, n, 20, aab...)}, []microBatch{{rows: []int{0}, shape: model.Shape{Batch: 1, Frames: n, Tokens: 3}}}, 1)
		if (loss[0].ctc > 0) != want || loss[0].infeasible == want {
			t.Errorf("%d frames: %+v", n, loss[0])
		}
	}
}
