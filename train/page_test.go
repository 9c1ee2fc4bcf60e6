package train

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/scores"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/watch"
)

// seen is a run that several look at after each update: the texts that they get for each path.
func seen(t *testing.T, r *run, paths ...string) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	url := r.remote.listener.URL
	r.served = func(int) {
		for _, path := range paths {
			answer, err := http.Get(url + path)
			if err != nil {
				t.Error(err)
				return
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s, %v", path, answer.StatusCode, text, err)
			}
			got[path] = append(got[path], string(text))
		}
	}
	return got
}

// A run that is seen shows where it stands and what it holds, lets its worst utterances be heard, and learns what it
// learns unseen, to the bit.
func TestRunIsSeen(t *testing.T) {
	list := tiny(t, speak(t, babble(8, 4, 1)...))
	list.Data.ValManifest = list.Data.TrainManifest
	list.Optimizer.MaxUpdates, list.Run.EvalEvery, list.Run.LogEvery = 6, 2, 1
	unseen := elsewhere(t, list)
	mustRun(t, unseen)

	list.Run.Listen = "127.0.0.1:0"
	r := start(t, list, nil)
	paths := []string{"", "state", "memory", "worst", "metrics"}
	got := seen(t, r, paths...)
	mustEnd(t, r)
	mustEqualRun(t, list.Run.CheckpointDir, unseen.Run.CheckpointDir, 6)
	if best := lastBest(t, list.Run.CheckpointDir); best == 0 || best != r.ledger.state.BestStep {
		t.Errorf("the best validation is that of update %d, and its records say of %d", r.ledger.state.BestStep, best)
	}
	for _, path := range paths {
		if len(got[path]) != 6 {
			t.Fatalf("%q was seen %d times", path, len(got[path]))
		}
	}
	var state struct {
		Runs []struct {
			Live                     bool
			Update, Total, Validated int
			Training                 map[string]json.RawMessage
		}
	}
	last := got["state"][5]
	if err := json.Unmarshal([]byte(last), &state); err != nil {
		t.Fatal(err)
	}
	// What is seen is at most half a second old: later records may be missing.
	if s := state.Runs[0]; !s.Live || s.Total != 6 || s.Update < 1 || len(s.Training["loss"]) < len(`{"mean":[1]}`) {
		t.Errorf("%s", last)
	}
	var memory struct {
		Now  *struct{ Holders []watch.Amount }
		Step *watch.Step
	}
	if err := json.Unmarshal([]byte(got["memory"][5]), &memory); err != nil || memory.Now == nil || memory.Step == nil {
		t.Fatalf("%s, %v", got["memory"][5], err)
	}
	testkit.MustContain(t, got["memory"][5], "what shows the run elsewhere", "weights", "arena of worker 0")
	testkit.MustContain(t, got["metrics"][5], "konkanitrain_in_progress", `konkanitrain_memory_bytes{run="`+list.Run.CheckpointDir)
	// A worst utterance is found in the set, wherever its sound lies.
	u := r.sets.val.set.At(3)
	if found := r.findScored(&scores.Utterance{ID: u.ID, Manifest: u.File, Line: u.Line}); found == nil || found.Index != 3 || found.Recording.Source == nil {
		t.Errorf("%+v", found)
	}
	if found := r.findScored(&scores.Utterance{ID: u.ID, Manifest: u.File, Line: u.Line + 1}); found != nil {
		t.Errorf("%+v", found)
	}
	url := r.remote.listener.URL
	r.remote.close()
	_, err := http.Get(url)
	testkit.MustFail(t, err, "refused")
}

// lastBest is the update of the last validation that was the best when it was recorded; 0 where none was.
func lastBest(t *testing.T, dir string) (update int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, metricsFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l struct {
			Event  string
			Update int
			Best   bool
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Best && l.Event == "validation" {
			update = l.Update
		}
	}
	return update
}

// The recorded step is that of the plan, in parts that add up to it.
func TestStepIsRecorded(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Optimizer.MaxUpdates = 1
	r := start(t, cfg, nil)
	text, err := os.ReadFile(filepath.Join(cfg.Run.CheckpointDir, watch.StepFile))
	if err != nil {
		t.Fatal(err)
	}
	var step watch.Step
	if err := json.Unmarshal(text, &step); err != nil {
		t.Fatal(err)
	}
	var most, fixed int64
	for i := range step.Parts[0].Held {
		var sum int64
		for _, p := range step.Parts {
			sum += p.Held[i]
		}
		most = max(most, sum)
	}
	for _, a := range step.Fixed {
		fixed += a.Bytes
	}
	u := r.replica.Usage()
	if most <= 0 || most > step.Arena || step.Arena > u.Arenas || step.Kernels < len(step.Parts[0].Held) || step.Workers != r.replica.Wishes().Workers {
		t.Errorf("%d bytes at most, arena %d of %d, %d kernel calls, %d workers", most, step.Arena, u.Arenas, step.Kernels, step.Workers)
	}
	if all := r.pool.Usage(); fixed != all.Allocated+all.Held-u.Arenas {
		t.Errorf("%d bytes beside arenas, want %d", fixed, all.Allocated+all.Held-u.Arenas)
	}
	mustEnd(t, r)
	// Where it can't be written the run goes on.
	cfg = elsewhere(t, cfg)
	if err := os.MkdirAll(filepath.Join(cfg.Run.CheckpointDir, watch.StepFile, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, mustRun(t, cfg), "NOTE: the memory of a step is not recorded: ")
}

// An address that can't be had is an error before anything is made, or read.
func TestListenIsRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := tiny(t, filepath.Join(t.TempDir(), "none.jsonl"))
	cfg.Run.CheckpointDir = filepath.Join(t.TempDir(), "run")
	cfg.Run.Listen = taken.Addr().String()
	testkit.MustContain(t, refused(t, cfg), "listen: can't listen on "+cfg.Run.Listen, "another program does")
	if _, err := os.Stat(cfg.Run.CheckpointDir); err == nil {
		t.Error("a folder was made")
	}
	for address, want := range map[string]string{
		"8420": "want HOST:PORT", "0.0.0.0:8420": "set listen_public", "127.0.0.1:99999": "want 0 to 65535", "unix:": "names no socket",
	} {
		cfg.Run.Listen = address
		testkit.MustFail(t, cfg.Validate(), "listen: ", want)
	}
	cfg.Run.Listen, cfg.Run.ListenPublic = "0.0.0.0:8420", true
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

// What listens is given back where the run doesn't begin; a run that only measures shows nothing, and says so; one that
// others can see says that too.
func TestListenIsGivenBack(t *testing.T) {
	cfg := tiny(t, filepath.Join(t.TempDir(), "none.jsonl"))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run.Listen = free.Addr().String()
	free.Close()
	refused(t, cfg)
	again, err := net.Listen("tcp", cfg.Run.Listen)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()

	cfg = tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Run.Listen, cfg.Run.Tensorboard, cfg.Run.MLflow, cfg.Run.ProfileSteps = "127.0.0.1:0", "true", "http://127.0.0.1:1", 1
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "NOTE: listen has no effect", "NOTE: tensorboard has no effect", "NOTE: mlflow has no effect")
	if strings.Contains(said, "http://") {
		t.Errorf("%s", said)
	}
	cfg.Run.Tensorboard, cfg.Run.MLflow = "", ""
	if list, err := checkpoint.List(cfg.Run.CheckpointDir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Run.CheckpointDir, watch.StepFile)); err == nil {
		t.Error("a run that only measures has recorded a step")
	}
	cfg.Run.ProfileSteps, cfg.Run.Listen, cfg.Run.ListenPublic, cfg.Optimizer.MaxUpdates = 0, "0.0.0.0:0", true, 1
	testkit.MustContain(t, mustRun(t, cfg), "WARNING: other machines reach this page", "shows this run")
}
