package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/device"
	"konkanitrain/device/faulty"
	"konkanitrain/internal/testkit"
)

// Out of memory at every allocation of a run with validation and saves, in turn: once, and from there on. Each run ends
// with the weights of the undisturbed run, or stops for lack of memory and is resumed to them.
func TestOutOfMemoryAnywhere(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 6, 1)...))
	cfg.Data.ValManifest = []string{speak(t, spoken{id: "long", text: letters, samples: 4 * 16000}, spoken{id: "short", text: "abc"})}
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 4, 1, 6
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.CacheClearEvery = 2, 3, 2
	calm := faulty.New(device.NewHost(), nil)
	straight := elsewhere(t, cfg)
	if _, err := Run(t.Context(), straight, Options{memory: calm}); err != nil {
		t.Fatal(err)
	}
	want := modelOf(t, straight)
	calls := calm.Calls()
	if calls < 7 {
		t.Fatalf("a run makes %d allocations: this test says little", calls)
	}
	ended, stopped := 0, 0
	for n := 1; n <= calls+2; n++ {
		for name, rule := range map[string]faulty.Rule{"once": faulty.Nth(n), "from there on": faulty.From(n)} {
			c := elsewhere(t, cfg)
			_, err := Run(t.Context(), c, Options{memory: faulty.New(device.NewHost(), rule)})
			switch {
			case errors.Is(err, ErrOutOfMemory):
				stopped++
				c.Run.Resume = "auto"
				if _, err := Run(t.Context(), c, Options{}); err != nil {
					t.Fatalf("allocation %d fails %s, and the run is resumed: %v", n, name, err)
				}
			case err != nil:
				t.Errorf("allocation %d fails %s: %v", n, name, err)
				continue
			default:
				ended++
			}
			testkit.CloseRel(t, fmt.Sprintf("weights when allocation %d fails %s", n, name), modelOf(t, c), want, 1e-5)
		}
	}
	t.Logf("%d allocations: %d runs went on to their end, %d stopped and were resumed", calls, ended, stopped)
	if ended == 0 || stopped == 0 {
		t.Errorf("%d runs ended, %d stopped", ended, stopped)
	}
}

// modelOf is the weights that a run has saved last, without the biases of attention's keys: their gradient is nothing
// but rounding, which Adam scales up to whole steps.
func modelOf(t *testing.T, cfg Config) (all []float32) {
	t.Helper()
	path := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(cfg.Optimizer.MaxUpdates))
	for _, n := range parametersOf(t, path) {
		if !strings.HasSuffix(n.name, "key.bias") {
			all = append(all, n.data...)
		}
	}
	return all
}

// pressed is a run that is set up for tests of a limit that falls while it goes on.
func pressed(t *testing.T) Config {
	t.Helper()
	cfg := plain(tiny(t, speak(t, babble(12, 6, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 4, 1, 8
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Run.EvalEvery, cfg.Run.SaveEvery = 4, 4
	return cfg
}

// leaveArenas lowers a run's limit so that its arenas may have so many percent of what they have.
func leaveArenas(r *run, percent int64) {
	u, arenas := r.pool.Usage(), r.replica.Usage().Arenas
	r.pool.SetLimit(u.Held + u.Allocated - arenas + arenas*percent/100)
}

// The limit halved in mid-run, twice: the run goes on, with as many utterances in an update and as many updates, and
// ends with the undisturbed run's loss, to rounding; what it did is said, and saved for the next session.
func TestLimitIsHalvedTwice(t *testing.T) {
	cfg := pressed(t)
	calm := startBare(t, elsewhere(t, cfg), nil)
	mustEnd(t, calm)
	var said bytes.Buffer
	r := startBare(t, elsewhere(t, cfg), &said)
	r.hook = func(update int) {
		if update == 2 || update == 5 {
			leaveArenas(r, 50)
		}
	}
	mustEnd(t, r)
	got, want := r.result(), calm.result()
	if got.Updates != want.Updates || r.ledger.state.Progress.Utterances != calm.ledger.state.Progress.Utterances {
		t.Errorf("%d updates with %d utterances, undisturbed %d with %d", got.Updates, r.ledger.state.Progress.Utterances,
			want.Updates, calm.ledger.state.Progress.Utterances)
	}
	if !(math.Abs(float64(got.Last.Loss-want.Last.Loss)) <= 1e-4*float64(want.Last.Loss)) { // other splits, eight steps of Adam
		t.Errorf("the loss is %v, undisturbed %v", got.Last.Loss, want.Last.Loss)
	}
	if n := strings.Count(said.String(), "MEMORY: the limit is "); n != 2 || r.reliefs[2] != 2 {
		t.Errorf("said %d times, counted %v", n, r.reliefs)
	}
	if u := r.pool.Usage(); u.Allocated+u.Held > u.Limit || r.ledger.state.Lessons.Arena != 0 || r.fit().Limit() == 0 {
		t.Errorf("%+v; learned %+v, the limit is %d", u, r.ledger.state.Lessons, r.fit().Limit())
	}
	r.close()
	testkit.MustContain(t, said.String(), "An update still has 4 utterances", "2 relieved for lack of memory (2 by splitting)")
}

// Where too little is left for a single utterance the run saves and stops, with the whole command that goes on, and is
// resumed to the undisturbed run, to the bit; with on_oom skip it goes on without.
func TestRunStopsForWantOfMemory(t *testing.T) {
	cfg := pressed(t)
	cfg.Run.CheckpointDir = filepath.Join(t.TempDir(), "it's a run") // a name that a shell would take apart
	straight := elsewhere(t, cfg)
	mustRun(t, straight)
	for _, action := range []string{"stop", "skip"} {
		c := cfg
		if action == "skip" {
			c = elsewhere(t, cfg)
		}
		c.Run.OnOOM = action
		var said bytes.Buffer
		r := startBare(t, c, &said)
		r.hook = atUpdate(3, func() { leaveArenas(r, 1) })
		err := r.loop(t.Context())
		r.close()
		if action == "skip" { // nothing at all fits
			testkit.MustFail(t, err, "gave no update at all", "not enough memory for any of its utterances, even alone", "raise memory_limit")
			if !errors.Is(err, ErrOutOfMemory) {
				t.Errorf("%v: want one for lack of memory", err)
			}
			continue
		}
		if !errors.Is(err, ErrOutOfMemory) {
			t.Fatalf("%v\n%s", err, said.String())
		}
		testkit.MustContain(t, err.Error(), "a pass over it alone takes ", "what was learned until then is saved in ",
			`konkanitrain --checkpoint_dir '`+filepath.Dir(c.Run.CheckpointDir)+`/it'\''s a run' --resume auto --on_oom skip`)
		if p := r.ledger.state.Progress; p.Updates != 3 {
			t.Errorf("stopped at %+v", p)
		}
		c.Run.Resume, c.Run.OnOOM, c.Run.MemoryLimit = "auto", "stop", "64GiB" // more than was learned to be there
		mustRun(t, c)
		got, want := modelOf(t, c), modelOf(t, straight)
		testkit.Close(t, "weights after the resume", got, want, 0)
	}
}
