package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// averaging is a run of five updates that saves after each.
func averaging(t *testing.T) Config {
	cfg := tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"}))
	cfg.Run.SaveEvery, cfg.Run.KeepLast, cfg.Run.AverageLast, cfg.Optimizer.MaxUpdates = 1, 1, 3, 5
	return cfg
}

// The averaged checkpoint holds the mean of the last ones, element by element; they are kept for it, whatever keep_last
// says; and it is what a model takes from the folder.
func TestAverage(t *testing.T) {
	cfg := averaging(t)
	testkit.MustContain(t, mustRun(t, cfg), "the mean of the weights after updates 3, 4, 5")
	dir := cfg.Run.CheckpointDir
	if got := steps(t, dir); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("%v are kept", got)
	}
	var mean []float64
	for _, update := range []int{3, 4, 5} {
		for i, v := range weightsOf(t, filepath.Join(dir, checkpoint.Name(update))) {
			if len(mean) == i {
				mean = append(mean, 0)
			}
			mean[i] += float64(v) / 3
		}
	}
	want := make([]float32, len(mean))
	for i, v := range mean {
		want[i] = float32(v)
	}
	// A compensated sum is rounded once, and so is the quotient: 2 x 2^-24 of the largest.
	testkit.Close(t, "averaged weights", weightsOf(t, filepath.Join(dir, recognize.AveragedDir, checkpoint.Name(5))), want, 1.2e-7)
	testkit.MustContain(t, mustLoad(t, dir).String(), recognize.AveragedDir, "mean of the weights after updates 3, 4, 5")
}

// An interruption saves where no save is due, and takes no part in the average: it is that of the run that went
// through.
func TestAverageOfAnInterruptedRun(t *testing.T) {
	straight := averaging(t)
	straight.Run.SaveEvery, straight.Optimizer.MaxUpdates = 2, 10
	mustRun(t, straight)
	broken := straight
	broken.Run.CheckpointDir = filepath.Join(t.TempDir(), "run")
	for _, at := range []int{5, 7, 9} {
		ctx, cancel := context.WithCancel(t.Context())
		run := start(t, broken, nil)
		run.hook = func(update int) {
			if update == at {
				cancel()
			}
		}
		if err := run.loop(ctx); !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		run.close()
		broken.Run.Resume = "auto"
	}
	testkit.MustContain(t, mustRun(t, broken), "the mean of the weights after updates 6, 8, 10")
	file := filepath.Join(recognize.AveragedDir, checkpoint.Name(10), checkpoint.ModelFile)
	a, err := os.ReadFile(filepath.Join(straight.Run.CheckpointDir, file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(broken.Run.CheckpointDir, file))
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("the averages differ (%v)", err)
	}
}

// Where training ends between two saves the last weights count. A later end replaces the average, also one of fewer
// updates.
func TestAverageIsReplaced(t *testing.T) {
	cfg := averaging(t)
	cfg.Run.SaveEvery, cfg.Run.KeepLast, cfg.Optimizer.MaxUpdates = 2, 9, 7
	testkit.MustContain(t, mustRun(t, cfg), "updates 4, 6, 7")
	dir := cfg.Run.CheckpointDir
	for _, update := range []int{6, 7} {
		if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(update))); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Run.Resume, cfg.Optimizer.MaxUpdates = "auto", 5
	testkit.MustContain(t, mustRun(t, cfg), "updates 2, 4, 5")
	if got := steps(t, filepath.Join(dir, recognize.AveragedDir)); !slices.Equal(got, []int{5}) {
		t.Errorf("averages %v are left", got)
	}
}

// The averaged weights are validated, and the score that goes with them is theirs.
func TestAverageIsValidated(t *testing.T) {
	cfg := averaging(t)
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Data.TestManifest = cfg.Data.TrainManifest
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "validation of the averaged weights: ", "averaged weights: WER")
	r := mustLoad(t, cfg.Run.CheckpointDir)
	e, _ := mustScore(t, r, cfg.Data.ValManifest[0])
	// On one worker and on two, and in other batches.
	if got, want := float64(r.Description.Score.Loss), float64(e.Loss); !(math.Abs(got-want) <= testkit.Products(1.5e-6)*want) {
		t.Errorf("the checkpoint says loss %v, its weights have %v", got, want)
	}
}

// A new run doesn't replace an earlier one's average, and nothing goes on from an average.
func TestAverageIsNoStart(t *testing.T) {
	cfg := averaging(t)
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	average := filepath.Join(dir, recognize.AveragedDir, checkpoint.Name(5))
	for _, resume := range []string{average, "auto"} {
		again := cfg
		again.Run.Resume = resume
		if resume == "auto" {
			again.Run.CheckpointDir = filepath.Join(dir, recognize.AveragedDir)
		} else {
			again.Run.CheckpointDir = t.TempDir()
		}
		_, err := Run(t.Context(), again, Options{})
		if err == nil {
			t.Fatal("a run went on from averaged weights")
		}
		testkit.MustContain(t, err.Error(), "averaged weights without an optimizer", "--init_from")
	}
	for _, update := range steps(t, dir) {
		if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(update))); err != nil {
			t.Fatal(err)
		}
	}
	for _, resume := range []string{"", "auto"} {
		cfg.Run.Resume = resume
		_, err := Run(t.Context(), cfg, Options{})
		if err == nil {
			t.Fatal("a new run began beside an earlier average")
		}
		testkit.MustContain(t, err.Error(), "averaged weights of an earlier run")
	}
	fresh := averaging(t)
	fresh.Run.InitFrom = average
	fresh.Data.TrainManifest = cfg.Data.TrainManifest
	testkit.MustContain(t, mustRun(t, fresh), "weights from "+average)
}

// An interrupted validation in the middle of an epoch makes no save due.
func TestAverageAfterAnInterruptedValidation(t *testing.T) {
	cfg := averaging(t)
	cfg.Data.TrainManifest = []string{speak(t, babble(16, 4, 1)...)} // four updates an epoch
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = 0, 3, 12
	ctx, cancel := context.WithCancel(t.Context())
	run := start(t, cfg, nil)
	run.hook = func(update int) {
		if update == 6 {
			cancel() // its validation is due and can't be made
		}
	}
	if err := run.loop(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	run.close()
	cfg.Run.Resume = "auto"
	testkit.MustContain(t, mustRun(t, cfg), "validation after update 6: ", "updates 4, 8, 12")
}

// What stands in a checkpoint_dir is taken for what the run came to only if it belongs to the newest checkpoint; an end
// without an average removes an earlier one.
func TestStaleAverage(t *testing.T) {
	cfg := averaging(t)
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	other := cfg
	other.Run.CheckpointDir, other.Run.Seed = filepath.Join(t.TempDir(), "other"), cfg.Run.Seed+1
	mustRun(t, other)
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.CopyFS(foreign, os.DirFS(other.Run.CheckpointDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(foreign, recognize.AveragedDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(foreign, recognize.AveragedDir), os.DirFS(filepath.Join(dir, recognize.AveragedDir))); err != nil {
		t.Fatal(err)
	}
	loaded := func(dir string) string { return mustLoad(t, dir).String() }
	testkit.MustContain(t, loaded(dir), recognize.AveragedDir)
	if s := loaded(foreign); strings.Contains(s, recognize.AveragedDir) {
		t.Errorf("another run's average is taken: %s", s)
	}
	cfg.Run.Resume, cfg.Run.AverageLast = "auto", 0
	testkit.MustContain(t, mustRun(t, cfg), "removed the averaged weights")
	if s := loaded(dir); strings.Contains(s, recognize.AveragedDir) {
		t.Errorf("the average is there still: %s", s)
	}
}

// Where there are fewer checkpoints than asked for it is said. A state without the list of due saves, of an earlier
// version, takes those that are there.
func TestAverageOfFew(t *testing.T) {
	cfg := averaging(t)
	cfg.Run.AverageLast, cfg.Run.KeepLast = 9, 9
	testkit.MustContain(t, mustRun(t, cfg), "updates 1, 2, 3, 4, 5 (average_last is 9: there are no others)")
	cfg.Run.Resume = "auto"
	if err := os.Truncate(filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(3), checkpoint.ModelFile), 100); err != nil {
		t.Fatal(err)
	}
	cfg.Run.AverageLast = 5
	if err := os.RemoveAll(filepath.Join(cfg.Run.CheckpointDir, recognize.AveragedDir)); err != nil { // else it is kept
		t.Fatal(err)
	}
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "WARNING: left out of the average: ", checkpoint.Name(3), "updates 1, 2, 4, 5\n")
	run := start(t, cfg, nil)
	run.ledger.state.Due = nil
	from, err := checkpoint.Open(run.ledger.newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.ledger.recallDue(from); err != nil || !slices.Equal(run.ledger.state.Due, []int{1, 2, 3, 4, 5}) {
		t.Errorf("due: %v, %v", run.ledger.state.Due, err)
	}
}

// An average that is much worse than the best checkpoint is named as such: it is what is used.
func TestWorseAverageIsSaid(t *testing.T) {
	cfg := averaging(t)
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	var said bytes.Buffer
	r, _ := finished(t, cfg, &said)
	r.ledger.best = "runs/x/step-00000002"
	for best, want := range map[float64]bool{0: true, 5: false} {
		r.ledger.state.Best = &recognize.Evaluation{WER: best, CER: best, Loss: 1}
		said.Reset()
		if err := r.average(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		warned := strings.Contains(said.String(), "WARNING: the averaged weights are worse in validation than the best checkpoint (") &&
			strings.Contains(said.String(), "name runs/x/step-00000002 to use that. An average_last below 3 averages fewer weights")
		if warned != want {
			t.Errorf("best %g: %s", best, said.String())
		}
	}
}
