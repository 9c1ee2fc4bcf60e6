package train

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// childConfig names the file with the settings of a run in a child process of the test binary.
const childConfig = "KONKANITRAIN_TEST_CHILD"

// TestChild is not a test: it is the run that [killed] kills. It trains until after update 7, says so, and waits.
func TestChild(t *testing.T) {
	path := os.Getenv(childConfig)
	if path == "" {
		return
	}
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := fromSettings(saved)
	if err != nil {
		t.Fatal(err)
	}
	run, err := setUp(context.Background(), cfg, Options{Out: os.Stdout})
	if err != nil {
		t.Fatal(err)
	}
	run.hook = func(update int) {
		if update == 7 {
			fmt.Println("update 7 is made")
			select {}
		}
	}
	t.Fatal(run.loop(context.Background()))
}

// killed runs cfg in another process and kills it (SIGKILL) two updates after its checkpoint.
func killed(t *testing.T, cfg Config) {
	t.Helper()
	settings, err := cfg.settings()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, settings, 0o666); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	child.Env = append(os.Environ(), childConfig+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if lines.Text() == "update 7 is made" {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // killed
	if child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself:\n%s", said.String())
	}
}

// traced makes updates until the run ends, and lists who was trained on.
func traced(t *testing.T, cfg Config, out io.Writer) (ids []string, after map[int]progress) {
	t.Helper()
	run, err := setUp(t.Context(), cfg, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	after = map[int]progress{}
	at := run.ledger.state.Progress
	run.hook = func(update int) {
		for _, u := range run.sets.loader.Window(at.Epoch, at.Window) {
			ids = append(ids, u.ID)
		}
		at = run.ledger.state.Progress
		after[update] = at
	}
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ids, after
}

// Ten updates straight are five, kill -9, and five more, bit for bit, in the middle of an epoch and with
// everything random turned on.
func TestKilledRunResumesBitForBit(t *testing.T) {
	train, val := speak(t, babble(23, 5, 1)...), speak(t, babble(5, 5, 2)...)
	for _, c := range []struct {
		fp16 bool
		ema  float64
	}{{}, {fp16: true}, {ema: 0.99}} {
		fp16 := c.fp16
		t.Run(fmt.Sprintf("fp16 %v, ema_decay %g", fp16, c.ema), func(t *testing.T) {
			cfg := tiny(t, train)
			cfg.Optimizer.EMADecay = c.ema
			cfg.Data.ValManifest, cfg.Data.NumWorkers, cfg.Run.CPUWorkers, cfg.Run.FP16 = []string{val}, 2, 2, fp16
			cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 2, 3, 10
			cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.Seed = 5, 5, 1<<63+12345
			cfg.Data.Pitch, cfg.Data.TimeShift, cfg.Data.BandwidthShare, cfg.Data.Volume = 2, 0.05, 0.3, 12
			cfg.Data.VTLP, cfg.Data.ReverbShare, cfg.Data.NoiseShare, cfg.Data.NoiseManifest = 0.1, 0.5, 0.5, []string{filepath.Dir(val)}
			straight, after := traced(t, cfg, io.Discard)
			if p := after[5]; p.Epoch != 1 || p.Window != 1 || p.Utterances != 29 {
				t.Errorf("after update 5: %+v, want the second epoch with one window used", p)
			}
			if p := after[10]; p.Epoch != 2 || p.Window != 2 || p.Utterances != 58 || len(straight) != 58 {
				t.Errorf("after update 10: %+v, want the third epoch with two windows used, 58 utterances in all", p)
			}

			second := cfg
			second.Run.CheckpointDir = filepath.Join(t.TempDir(), "killed")
			killed(t, second)
			_, _, five := readCheckpoint(t, second.Run.CheckpointDir, 5)
			if p := five.Progress; p.Epoch != 1 || p.Window != 1 || p.WindowSize != 6 || p.Updates != 5 {
				t.Errorf("the checkpoint of update 5: %+v", p)
			}
			second.Run.Resume = "auto"
			var said strings.Builder
			rest, _ := traced(t, second, &said)
			testkit.MustContain(t, said.String(), "resumed from", "5 updates done, epoch 2, window 2 of 4")
			if strings.Contains(said.String(), "NOTE") || strings.Contains(said.String(), "WARNING: a window") {
				t.Errorf("a resume with the same settings complains:\n%s", said.String())
			}
			if !slices.Equal(rest, straight[29:]) {
				t.Errorf("after the resume come %v, want %v", rest, straight[29:])
			}

			want := mustEqualRun(t, second.Run.CheckpointDir, cfg.Run.CheckpointDir, 10)
			if want.Best == nil || want.LossScale.Good != map[bool]int{false: 0, true: 10}[fp16] {
				t.Errorf("best score %v, loss scale %+v", want.Best, want.LossScale)
			}
		})
	}
}

// The loss scale and its count of good updates survive a resume.
func TestLossScaleSurvivesAResume(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(4, 4, 1)...)))
	cfg.Run.FP16, cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = true, 7, 7
	run := start(t, cfg, nil)
	run.updater.LossScale.Scale = 256
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.close()
	cfg.Run.Resume = "auto"
	again := start(t, cfg, nil)
	if s := again.updater.LossScale; s.Scale != 256 || s.Good != 7 || s.GrowEvery != 2000 {
		t.Errorf("%+v after the resume, want 256 and 7", s)
	}
}

// A stop from outside finishes the update, saves, and the resumed run is the straight one: between updates, in the
// middle of a validation, and in the last one.
func TestInterruptedRunResumesBitForBit(t *testing.T) {
	train, val := speak(t, babble(9, 4, 1)...), speak(t, babble(40, 4, 2)...)
	config := func() Config {
		cfg := tiny(t, train)
		cfg.Data.ValManifest, cfg.Optimizer.MaxUpdates = []string{val}, 6 // epochs of 3 windows
		return cfg
	}
	straight := config()
	traced(t, straight, io.Discard)
	for name, stopAt := range map[string]int{"between updates": 4, "in a validation": 3, "in the last validation": 6} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			run, err := setUp(ctx, cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			run.hook = func(update int) {
				if update == stopAt {
					stop()
				}
			}
			if err := run.loop(ctx); !errors.Is(err, ErrInterrupted) {
				t.Fatalf("the run ended with %v, want ErrInterrupted", err)
			}
			run.close()
			if c, _, _ := checkpoint.Latest(cfg.Run.CheckpointDir); c == nil || c.Step != stopAt {
				t.Fatalf("the last checkpoint is %+v, want update %d", c, stopAt)
			}
			cfg.Run.Resume = "auto"
			traced(t, cfg, io.Discard)
			mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 6)
			checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"start": 2, "update": 6, "validation": 2})
		})
	}
}

// Going on takes no more memory than starting: the checkpoint is streamed into the buffers that are there anyway.
func TestResumeTakesNoMoreMemory(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 6, 1)...))
	var peaks []int64
	for _, until := range []int{5, 10} {
		cfg.Optimizer.MaxUpdates = until
		memory := device.NewHost()
		if _, err := Run(t.Context(), cfg, Options{memory: memory}); err != nil {
			t.Fatal(err)
		}
		if u := memory.Usage(); u.Allocated != 0 {
			t.Errorf("%d bytes are left when the run is over", u.Allocated)
		}
		peaks = append(peaks, memory.Usage().Peak)
		cfg.Run.Resume = "auto"
	}
	if peaks[1] > peaks[0] {
		t.Errorf("the peak is %d bytes from the start and %d after a resume", peaks[0], peaks[1])
	}
}

// A run that max_updates cut short validates once more than the uninterrupted one. Going on, it is the uninterrupted
// one all the same: the score out of turn counts neither for early_stop nor as the best, and what was the best before
// it is still there.
func TestRunCutShortResumesBitForBit(t *testing.T) {
	train, val := speak(t, babble(9, 4, 1)...), speak(t, babble(5, 4, 2)...)
	config := func(updates int, rate float64) Config {
		cfg := tiny(t, train)
		cfg.Data.ValManifest, cfg.Optimizer.LearningRate, cfg.Optimizer.WarmupUpdates, cfg.Optimizer.MaxUpdates = []string{val}, rate, 1, updates
		cfg.Run.EvalEvery, cfg.Run.EarlyStop, cfg.Run.KeepLast = 4, 2, 1
		return cfg
	}
	for name, rate := range map[string]float64{"it gets better": 1e-2, "it gets worse": 0.5} {
		t.Run(name, func(t *testing.T) {
			straight := config(10, rate)
			traced(t, straight, io.Discard)
			cfg := config(5, rate)
			traced(t, cfg, io.Discard)
			_, _, five := readCheckpoint(t, cfg.Run.CheckpointDir, 5)
			if five.Judged != 5 || five.Before == nil || five.Before.Judged != 4 {
				t.Errorf("the checkpoint of update 5: judged at %d, before %+v", five.Judged, five.Before)
			}
			if worse := name == "it gets worse"; (five.Stale > 0) != worse || (five.BestStep != 5) != worse {
				t.Errorf("%d stale validations, best of update %d: this test says nothing", five.Stale, five.BestStep)
			}
			cfg.Run.Resume, cfg.Optimizer.MaxUpdates = "auto", 10
			traced(t, cfg, io.Discard)
			got := mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 10)
			if _, err := checkpoint.Open(filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(got.BestStep))); err != nil {
				t.Errorf("the best checkpoint: %v", err)
			}
		})
	}
}
