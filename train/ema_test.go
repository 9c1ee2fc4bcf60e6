package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// smoothed is a run of five updates with moving averages, two workers and a validation after each epoch of three
// windows.
func smoothed(t testing.TB) Config {
	cfg := small(tiny(t, speak(t, babble(9, 4, 1)...)))
	cfg.Data.ValManifest = []string{speak(t, babble(5, 4, 2)...)}
	cfg.Optimizer.EMADecay, cfg.Optimizer.MaxUpdates, cfg.Run.CPUWorkers = 0.3, 5, 2
	return cfg
}

// averages are the moving averages of a run's weights: of what is frozen the weights.
func averages(t testing.TB, r *run) (all []float32) {
	t.Helper()
	for _, p := range r.ledger.memory.parameters {
		of := engine.Weights
		if r.ledger.memory.learns(p) {
			of = engine.Averages
		}
		all = append(all, values(t, r, of, p.Name)...)
	}
	return all
}

// optimizerOf are all numbers of an optimizer's file with names behind a prefix.
func optimizerOf(t testing.TB, path, prefix string) (all []float32) {
	t.Helper()
	d, err := recognize.Describe(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []*named
	for _, p := range []string{"m.", "v.", rawPrefix} {
		if p != rawPrefix || d.EMADecay > 0 {
			list = append(list, blank(d.Network, p)...)
		}
	}
	if err := c.LoadOptimizer(tensors(list)); err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		if strings.HasPrefix(n.name, prefix) {
			all = append(all, n.data...)
		}
	}
	return all
}

// The averages are those of the formula, in float64, over the weights after each update; they are the model on disk,
// and the weights lie beside the moments. Weights and moments are those of a run without averages, to the bit.
func TestMovingAverages(t *testing.T) {
	cfg := smoothed(t)
	r := start(t, cfg, nil)
	var want []float64
	for _, w := range flat(t, r, engine.Weights) {
		want = append(want, float64(w))
	}
	r.hook = func(n int) {
		keep := min(0.3, float64(1+n)/float64(10+n)) // 0.18, 0.25, and then 0.3
		for i, w := range flat(t, r, engine.Weights) {
			want[i] = keep*want[i] + (1-keep)*float64(w)
		}
	}
	mustEnd(t, r)
	rounded := make([]float32, len(want))
	for i, v := range want {
		rounded[i] = float32(v)
	}
	// Three roundings an update of numbers below 4, of which less than a third stays at the next.
	testkit.Close(t, "averages", averages(t, r), rounded, 4*0x1p-24*3*1.5)
	if r.updater.Updates != 5 {
		t.Fatalf("%d updates", r.updater.Updates)
	}

	path := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(5))
	raw := flat(t, r, engine.Weights)
	if !slices.Equal(weightsOf(t, path), averages(t, r)) || !slices.Equal(optimizerOf(t, path, rawPrefix), raw) || slices.Equal(raw, averages(t, r)) {
		t.Error("the checkpoint doesn't hold the averages as its model and the weights beside the moments")
	}
	testkit.MustContain(t, mustLoad(t, path).String(), "moving averages of the weights (ema_decay 0.3)")

	without := elsewhere(t, cfg)
	without.Optimizer.EMADecay = 0
	testkit.MustContain(t, mustRun(t, without), "validation after update 3: ")
	plain := filepath.Join(without.Run.CheckpointDir, checkpoint.Name(5))
	if !slices.Equal(weightsOf(t, plain), raw) || !slices.Equal(optimizerOf(t, plain, ""), slices.Concat(optimizerOf(t, path, "m."), optimizerOf(t, path, "v."))) {
		t.Error("weights or moments are others than without averages")
	}
}

// A run that is interrupted in the middle of an epoch, and one that is in a validation, goes on as the straight one, to
// the bit; so does one in which a part is frozen.
func TestMovingAveragesOfAnInterruptedRun(t *testing.T) {
	for name, freeze := range map[string][]string{"all learns": nil, "a part is frozen": {"encoder.subsample"}} {
		t.Run(name, func(t *testing.T) {
			straight := smoothed(t)
			straight.Optimizer.Freeze = freeze
			mustRun(t, straight)
			broken := elsewhere(t, straight)
			for _, at := range []int{2, 3, 4} { // at 3 a validation is due
				ctx, stop := context.WithCancel(t.Context())
				r := start(t, broken, nil)
				r.hook = atUpdate(at, stop)
				if err := r.loop(ctx); !errors.Is(err, ErrInterrupted) {
					t.Fatal(err)
				}
				r.close()
				broken.Run.Resume = "auto"
			}
			mustRun(t, broken)
			mustEqualRun(t, broken.Run.CheckpointDir, straight.Run.CheckpointDir, 5)
		})
	}
}

// A score is one of the averages: that of a network whose weights were averaged by hand. Whatever ends it, weights and
// averages are in their places afterwards.
func TestMovingAveragesAreScored(t *testing.T) {
	cfg := smoothed(t)
	r := start(t, cfg, nil)
	mustLoop(t, r)
	weights, smooth := flat(t, r, engine.Weights), averages(t, r)
	inPlace := func(when string) {
		t.Helper()
		if !slices.Equal(flat(t, r, engine.Weights), weights) || !slices.Equal(averages(t, r), smooth) {
			t.Errorf("%s weights or averages are others", when)
		}
	}
	got, err := r.score(t.Context(), r.sets.val)
	if err != nil {
		t.Fatal(err)
	}
	inPlace("after a score")

	by := elsewhere(t, cfg)
	by.Optimizer.EMADecay = 0
	hand := start(t, by, nil)
	rest := smooth
	editAll(t, hand, func(w []float32) { rest = rest[copy(w, rest):] })
	want, err := hand.score(t.Context(), hand.sets.val, nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Took, want.Took = 0, 0
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Errorf("the score is %s, that of the averages %s", a, b)
	}
	testkit.MustFail(t, hand.replica.ExchangeAverages(), "keeps no averages")

	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.score(ctx, r.sets.val); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	inPlace("after a score that was interrupted")
	f := intercept(r)
	f.run = errors.New("a fault")
	if _, err := r.score(t.Context(), r.sets.val); !errors.Is(err, f.run) {
		t.Error(err)
	}
	inPlace("after a score that failed")
	r.replica = &panicking{f.Replica}
	r.judge = recognize.New(r.net, r.replica, 2, r.ledger.state.Vocabulary, r.cfg.Policy())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing has broken down")
			}
		}()
		_, _ = r.score(t.Context(), r.sets.val)
	}()
	inPlace("after a score that broke down")
	f = intercept(r)
	f.exchange = errors.New("no exchange")
	if _, err := r.score(t.Context(), r.sets.val); !errors.Is(err, f.exchange) {
		t.Error(err)
	}
}

// panicking is a replica whose passes break down.
type panicking struct{ update.Replica }

func (*panicking) Run(*engine.Pass[update.Variant]) error { panic("a mistake") }

// Validation and test say that averages were scored, in words and in metrics; the test is that of the best model, as
// anybody would load it.
func TestMovingAveragesAreSaid(t *testing.T) {
	cfg := smoothed(t)
	cfg.Data.TestManifest = cfg.Data.ValManifest
	r := start(t, cfg, nil)
	var said strings.Builder
	r.report.out = &said
	mustEnd(t, r)
	testkit.MustContain(t, said.String(), "validation after update 3 (moving averages): ", "best weights (moving averages): WER")
	testkit.MustContain(t, readFile(t, filepath.Join(cfg.Run.CheckpointDir, metricsFile)),
		`"update":3,"weights":"moving averages"`, `"weights":"best weights (moving averages)"`)
	best := mustLoad(t, r.ledger.best)
	e, _ := mustScore(t, best, cfg.Data.TestManifest[0])
	if e.Score.String() != r.tested.Score.String() || e.Score.String() != best.Description.Score.Score.String() {
		t.Errorf("the test is %v, the best model has %v, and its validation was %v", r.tested, e, best.Description.Score)
	}
}

// Averages that are turned on at a resume begin at the weights there.
func TestMovingAveragesBeginAtAResume(t *testing.T) {
	cfg := smoothed(t)
	cfg.Optimizer.EMADecay = 0
	cfg = once(t, cfg)
	cfg.Optimizer.EMADecay = 0.99
	testkit.MustContain(t, mustRun(t, cfg), "ema_decay: 0 / 0.99", "begin at the weights of update 2")
	dir := cfg.Run.CheckpointDir
	want := weightsOf(t, filepath.Join(dir, checkpoint.Name(2)))
	for i, w := range optimizerOf(t, filepath.Join(dir, checkpoint.Name(3)), rawPrefix) {
		want[i] = float32(4./13*float64(want[i]) + 9./13*float64(w))
	}
	testkit.Close(t, "averages", weightsOf(t, filepath.Join(dir, checkpoint.Name(3))), want, 4*0x1p-24*4)
}

// Without averages a resumed run goes on from the weights, not from the averages: it is the run that kept them. Another
// value is taken up.
func TestMovingAveragesEndAtAResume(t *testing.T) {
	cfg := once(t, smoothed(t))
	other := elsewhere(t, cfg)
	if err := os.CopyFS(other.Run.CheckpointDir, os.DirFS(cfg.Run.CheckpointDir)); err != nil {
		t.Fatal(err)
	}
	cfg.Optimizer.EMADecay = 0.5
	testkit.MustContain(t, mustRun(t, cfg), "ema_decay: 0.3 / 0.5")
	other.Optimizer.EMADecay, other.Run.AverageLast = 0, 3
	testkit.MustContain(t, mustRun(t, other), "ema_decay: 0.3 / 0", "goes on from the weights of update 2, not from their moving averages",
		"is made of checkpoints from here on", "the mean of the weights after update 3 (average_last is 3")
	kept, gone := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(3)), filepath.Join(other.Run.CheckpointDir, checkpoint.Name(3))
	if !slices.Equal(optimizerOf(t, kept, rawPrefix), weightsOf(t, gone)) || !slices.Equal(optimizerOf(t, kept, "m."), optimizerOf(t, gone, "m.")) {
		t.Error("the run goes on from other weights or moments than those of the one that kept averages")
	}
}

// A run that had ended is tested with the model that was best, though it is asked to keep averages no more.
func TestMovingAveragesAreGivenUpAtTheEnd(t *testing.T) {
	for _, validated := range []bool{true, false} {
		cfg := smoothed(t)
		cfg.Data.TestManifest = cfg.Data.ValManifest
		if !validated {
			cfg.Data.ValManifest = nil
		}
		first := start(t, cfg, nil)
		mustEnd(t, first)
		first.close()
		cfg.Optimizer.EMADecay, cfg.Run.Resume = 0, "auto"
		second := start(t, cfg, nil)
		mustEnd(t, second)
		path := first.ledger.newest
		if validated {
			path = first.ledger.best
		}
		if got, want := flat(t, second, engine.Weights), weightsOf(t, path); !slices.Equal(got, want) {
			t.Errorf("validated %v: the test was made with other weights than those of %s", validated, path)
		}
		if a, b := first.tested, second.tested; a.Loss != b.Loss || a.Score.String() != b.Score.String() {
			t.Errorf("validated %v: the test is %v, and %v in the end", validated, a, b)
		}
	}
}

// A new run's averages begin at the weights of the model that it starts from.
func TestMovingAveragesBeginAtAModel(t *testing.T) {
	cfg := smoothed(t)
	mustRun(t, cfg)
	path := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(5))
	cfg = elsewhere(t, cfg)
	cfg.Run.InitFrom, cfg.Optimizer.Freeze = path, []string{"encoder.subsample"}
	r := start(t, cfg, nil)
	if want := weightsOf(t, path); !slices.Equal(flat(t, r, engine.Weights), want) || !slices.Equal(averages(t, r), want) {
		t.Error("the run begins elsewhere")
	}
}

// A checkpoint without the weights, or with some of another shape, says what it should hold.
func TestMovingAveragesWithoutWeights(t *testing.T) {
	for want, change := range map[string]func(*contents){
		"w.ctc.weight: missing in the file": func(c *contents) {
			c.optimizer = slices.DeleteFunc(c.optimizer, func(n *named) bool { return n.name == "w.ctc.weight" })
		},
		"w.ctc.bias: [1] in the file": func(c *contents) {
			for _, n := range c.optimizer {
				if n.name == "w.ctc.bias" {
					n.shape, n.data = []int{1}, n.data[:1]
				}
			}
		},
	} {
		cfg := once(t, smoothed(t))
		rewrite(t, cfg.Run.CheckpointDir, change)
		for _, decay := range []float64{0.3, 0} {
			cfg.Optimizer.EMADecay = decay
			testkit.MustContain(t, refused(t, cfg), want, "the weights that training goes on from, as w.NAME", "--init_from")
		}
	}
	cfg := once(t, smoothed(t))
	damage(t, cfg.Run.CheckpointDir, 2, checkpoint.OptimizerFile)
	testkit.MustContain(t, mustRun(t, cfg), "passed over the checkpoint", "optimizer.safetensors has changed since it was saved", "resumed from "+filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(1)))
}

// A program that knows nothing of averages would go on from them with the moments of other weights: it finds tensors in
// optimizer.safetensors that it doesn't know.
func TestOlderProgramsRefuseMovingAverages(t *testing.T) {
	cfg := once(t, smoothed(t))
	path := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := recognize.Describe(path)
	if err != nil {
		t.Fatal(err)
	}
	moments := append(blank(d.Network, "m."), blank(d.Network, "v.")...)
	testkit.MustFail(t, c.LoadOptimizer(tensors(moments)), "w.ctc.bias", "in the file, not in the model")
}

func TestMovingAveragesOfAverages(t *testing.T) {
	cfg := smoothed(t)
	cfg.Run.AverageLast = 2
	testkit.MustFail(t, cfg.Validate(), "ema_decay is 0.3 and average_last 2", "set one of them to 0")
}

// A copy on the host holds the averages, and gives them back.
func TestSnapshotHoldsMovingAverages(t *testing.T) {
	r := start(t, smoothed(t), nil)
	mustLoop(t, r)
	s, err := newSnapshot(r.host, r.ledger.memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.free()
	if err := s.take(r.replica, r.ledger.state); err != nil {
		t.Fatal(err)
	}
	want := averages(t, r)
	for _, p := range model.Parameters(r.net) {
		var zeros bytes.Buffer
		_ = binary.Write(&zeros, binary.LittleEndian, make([]float32, p.Size()))
		if err := r.replica.Import(engine.Averages, p.Name, &zeros); err != nil {
			t.Fatal(err)
		}
	}
	m := r.ledger.memory
	m.replica = &copied{r.replica, s}
	var got bytes.Buffer
	for _, x := range m.model() {
		if err := x.Save(&got); err != nil {
			t.Fatal(err)
		}
	}
	all := make([]float32, len(want))
	if err := binary.Read(&got, binary.LittleEndian, all); err != nil || !slices.Equal(all, want) {
		t.Errorf("the copy holds other averages (%v)", err)
	}
	if err := (&copied{r.replica, s}).Export(engine.Averages+1, "ctc.bias", io.Discard); err == nil {
		t.Error("a buffer that isn't there is exported")
	}
}
