package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// madeUpCard is a card of which only the memory is there; it lies on the host.
type madeUpCard struct {
	cuda.Card
	*device.Host
	others int64 // bytes that contexts and other programs use
	closed bool
}

const madeUpTotal = 1 << 30

func (c *madeUpCard) Name() string                                      { return "cuda:0" }
func (c *madeUpCard) Alloc(n int64, what string) (device.Buffer, error) { return c.Host.Alloc(n, what) }
func (c *madeUpCard) Usage() device.Usage                               { return c.Host.Usage() }
func (c *madeUpCard) Trim() int64                                       { return c.Host.Trim() }
func (c *madeUpCard) Info() cuda.Info {
	return cuda.Info{Name: "made-up card", Major: 7, Minor: 5, Total: madeUpTotal, BLAS: "no BLAS"}
}
func (c *madeUpCard) Memory() (free, total int64, err error) {
	return madeUpTotal - c.others - c.Host.Usage().Reserved, madeUpTotal, nil
}
func (c *madeUpCard) Close() error {
	c.closed = true
	return nil
}

// startOnCard sets up a run whose replica lies on a made-up card: workers of a CPU, whose memory counts as the card's.
func startOnCard(t *testing.T, cfg Config, said *strings.Builder) (*run, *madeUpCard) {
	t.Helper()
	card := &madeUpCard{Host: device.NewHost(), others: 100 << 20}
	r, err := setUp(t.Context(), cfg, Options{Out: said, Device: &recognize.Device{Name: "cuda:0", Why: "as asked for", Card: card}, computing: &recognize.Device{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r, card
}

// A run on a card keeps buffers in the card's pool and everything else in the host's, says both, and gives both back.
func TestMemoryOfACard(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 3, 1)...)))
	cfg.Optimizer.NumEpochs, cfg.Run.CacheClearEvery = 2, 1
	var said strings.Builder
	r, card := startOnCard(t, cfg, &said)
	u := r.replica.Usage()
	if n := card.Usage().Allocated; n < u.Weights+u.Gradients+u.Moments+u.Arenas || r.host.Usage().Allocated != int64(12*r.ledger.state.Parameters) {
		t.Errorf("%d bytes on the card, %+v on the host; the replica has %+v", n, r.host.Usage(), u)
	}
	if r.pool.Usage().Held != r.device.Context() || r.host.Usage().Held < r.held.Heap {
		t.Errorf("held on the card: %+v; on the host: %+v", r.pool.Usage(), r.host.Usage())
	}
	if i := r.info(); i.Card == nil || i.Card.Total != madeUpTotal || i.Card.Other != card.others || i.Allocated != card.Usage().Allocated || i.Card.Host < r.host.Usage().Allocated {
		t.Errorf("%+v, %+v", i, i.Card)
	}
	mustEnd(t, r)
	r.close()
	testkit.MustContain(t, said.String(),
		"device: cuda:0, made-up card, compute capability 7.5, 1.00 GiB, ",
		"[GPU Memory] Before Training: Allocated: 0.00GB (0.", "| Total: 1.00GB | Other: 0.10GB\n", "[GPU Memory] Final: ",
		"memory: ", " on cuda:0, under a limit of ", "; longest utterance ", " of this machine's, under a limit of ", "copies of weights and moments ")
	for _, not := range []string{"[CPU Memory]", "leak", "worker"} {
		if strings.Contains(said.String(), not) {
			t.Errorf("it says %q:\n%s", not, said.String())
		}
	}
	if !card.closed || card.Usage().Reserved != 0 || r.host.Usage().Reserved != 0 {
		t.Errorf("closed %v, %+v, %+v", card.closed, card.Usage(), r.host.Usage())
	}
}

// What doesn't fit the card is said in the card's words; with others on the card they are named.
func TestNoMemoryOnACard(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 3, 1)...)))
	cfg.Run.MemoryLimit, cfg.Run.AutoFit = "20kB", false
	card := &madeUpCard{Host: device.NewHost(), others: 500 << 20}
	_, err := setUp(t.Context(), cfg, Options{Device: &recognize.Device{Name: "cuda:0", Card: card}, computing: &recognize.Device{}})
	testkit.MustFail(t, err, "out of memory", "memory_limit", "raise memory_limit", "on cuda:0 other programs use 500.0 MiB of 1.00 GiB")
	if !errors.Is(err, ErrOutOfMemory) || strings.Contains(err.Error(), "cpu_workers") || !card.closed {
		t.Errorf("%v; closed %v", err, card.closed)
	}
}

// A card whose memory suffices is of no use where the host's doesn't.
func TestNoMemoryBesideACard(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 3, 1)...)))
	r, _ := startOnCard(t, cfg, &strings.Builder{})
	r.host.SetLimit(1)
	err := r.planMemory()
	testkit.MustFail(t, err, "out of memory: beside cuda:0 the run holds ", "of this machine's memory", "snapshot_every 0")
}

// failing is what a card says whose context is lost.
var failing = fmt.Errorf("%w: %w", cuda.ErrLost, &cuda.Error{Call: "cuLaunchKernel", Kernel: "swish_f32", Code: 719, Text: "CUDA_ERROR_LAUNCH_FAILED", Lost: true})

// A run whose card fails is saved from the last copy, to the bit as it was then, wherever the card fails; what is made
// again is the run without the failure.
func TestCardFails(t *testing.T) {
	manifest := speak(t, babble(8, 3, 1)...)
	straight := plain(tiny(t, manifest))
	straight.Optimizer.MaxUpdates, straight.Run.SaveEvery, straight.Run.CPUWorkers = 7, 1, 1
	straight.Run.KeepLast = 100
	mustRun(t, straight)
	for where, c := range map[string]struct {
		fail  func(*frail)
		again string
	}{
		"in a pass":      {func(f *frail) { f.run = failing }, "1 update is"},
		"in an update":   {func(f *frail) { f.update = &engine.BrokenError{Err: failing} }, "1 update is"},
		"in a reduction": {func(f *frail) { f.reduce = failing }, "1 update is"},
		"before a copy":  {func(f *frail) { f.finite = failing }, "2 updates are"},
	} {
		t.Run(where, func(t *testing.T) {
			cfg := elsewhere(t, straight)
			cfg.Run.SaveEvery, cfg.Run.SnapshotEvery = 1000, 2
			var said strings.Builder
			r, _ := startOnCard(t, cfg, &said)
			f := intercept(r)
			r.hook = atUpdate(5, func() { c.fail(f); f.export, f.load = failing, failing })
			err := r.ending(t.Context())
			testkit.MustFail(t, err, "the card failed: ", "cuLaunchKernel of swish_f32: CUDA_ERROR_LAUNCH_FAILED (error 719)",
				"update 4 is saved in "+cfg.Run.CheckpointDir+"/step-00000004; "+c.again+" made again: konkanitrain --checkpoint_dir "+cfg.Run.CheckpointDir+" --resume auto")
			if !errors.Is(err, ErrCardLost) {
				t.Errorf("%v is no ErrCardLost", err)
			}
			r.close()
			for _, file := range []string{checkpoint.ModelFile, checkpoint.OptimizerFile} {
				a, b := stepFile(straight, 4, file), stepFile(cfg, 4, file)
				if readFile(t, a) != readFile(t, b) {
					t.Errorf("%s is not that of the run that didn't fail", file)
				}
			}
			mustRun(t, withResume(cfg))
			if readFile(t, stepFile(straight, 7, checkpoint.OptimizerFile)) != readFile(t, stepFile(cfg, 7, checkpoint.OptimizerFile)) {
				t.Error("resumed, it is another run")
			}
		})
	}
}

func stepFile(c Config, step int, file string) string {
	return c.Run.CheckpointDir + "/" + checkpoint.Name(step) + "/" + file
}

// Where the last checkpoint is as new as the copy, or there is neither, nothing is saved, and that is said.
func TestCardFailsWithoutACopy(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 3, 1)...)))
	for name, c := range map[string]struct {
		save, snapshot int
		want           string
	}{
		"after a checkpoint": {3, 1, "step-00000003; no update is made again"},
		"between them":       {2, 50, "step-00000002; 1 update is made again"},
		"with neither":       {1000, 0, "there is neither a checkpoint nor a copy (snapshot_every 0): begin anew"},
	} {
		cfg := elsewhere(t, cfg)
		cfg.Run.SaveEvery, cfg.Run.SnapshotEvery = c.save, c.snapshot
		r, _ := startOnCard(t, cfg, &strings.Builder{})
		f := intercept(r)
		r.hook = func(update int) {
			if update == 4 {
				t.Error(name, "goes on")
			}
		}
		fail := func() { f.run, f.export, f.finite = failing, failing, failing }
		r.served = func(update int) {
			if update == 3 {
				fail()
			}
		}
		testkit.MustFail(t, r.ending(t.Context()), "the card failed", c.want)
		r.close()
	}
}

// A copy that can't be taken to its end is none: the checkpoint before it is what there is.
func TestCardFailsInACopy(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 3, 1)...)))
	cfg.Run.SaveEvery, cfg.Run.SnapshotEvery = 2, 1
	r, _ := startOnCard(t, cfg, &strings.Builder{})
	f := intercept(r)
	r.hook = atUpdate(5, func() { f.export, f.spared = failing, 9 })
	testkit.MustFail(t, r.ending(t.Context()), "step-00000004; 1 update is made again")
	if r.snapshot.whole {
		t.Error("half a copy counts as one")
	}
}

// Copies are taken after so many updates and after validations, unless a checkpoint has the same.
func TestCopiesAreDue(t *testing.T) {
	manifest := speak(t, babble(8, 3, 1)...)
	cfg := small(tiny(t, manifest))
	cfg.Data.ValManifest = []string{manifest}
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.SnapshotEvery, cfg.Run.EvalEvery = 12, 8, 3, 5
	r, _ := startOnCard(t, cfg, &strings.Builder{})
	var at []int
	r.served = func(update int) {
		if n := r.snapshot.updates(); len(at) == 0 && n > 0 || len(at) > 0 && n != at[len(at)-1] {
			at = append(at, n)
			if n != update {
				t.Errorf("after update %d the copy is of %d", update, n)
			}
		}
	}
	mustLoop(t, r)
	// A validation that is the best so far makes a checkpoint, and then there is no copy.
	for _, n := range at {
		if slices.Contains(steps(t, cfg.Run.CheckpointDir), n) {
			t.Errorf("a copy of update %d beside its checkpoint", n)
		}
	}
	if len(at) == 0 || at[0] != 3 {
		t.Errorf("copies of %v", at)
	}
}

var _ update.Replica = (*copied)(nil)
