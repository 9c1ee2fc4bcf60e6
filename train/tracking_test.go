package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/mlflow"
	"konkanitrain/internal/testkit"
)

// trackingServer is as much of a server of MLflow as a run needs: internal/mlflow has one that is strict.
type trackingServer struct {
	*httptest.Server
	mu     sync.Mutex
	runs   []*trackedHere
	silent bool
}

type trackedHere struct {
	status       string
	params, tags map[string]string
	points       map[string]map[int]float64 // by curve and step
	twice        int
}

func newTrackingServer(t *testing.T) *trackingServer {
	s := &trackingServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *trackingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	type entry struct{ Key, Value string }
	var in struct {
		RunID        string `json:"run_id"`
		Status       string
		Params, Tags []entry
		Metrics      []struct {
			Key   string
			Value float64
			Step  int
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	id := in.RunID + r.URL.Query().Get("run_id")
	var here *trackedHere
	for i, x := range s.runs {
		if id == fmt.Sprint("run", i) {
			here = x
		}
	}
	out := map[string]any{}
	switch what := filepath.Base(r.URL.Path); {
	case what == "get-by-name":
		out["experiment"] = map[string]string{"experiment_id": "0"}
	case what == "create":
		here = &trackedHere{"RUNNING", map[string]string{}, map[string]string{}, map[string]map[int]float64{}, 0}
		out["run"] = map[string]any{"info": map[string]string{"run_id": fmt.Sprint("run", len(s.runs))}}
		s.runs = append(s.runs, here)
	case here == nil:
		w.WriteHeader(http.StatusNotFound)
		out["error_code"] = "RESOURCE_DOES_NOT_EXIST"
	case what == "get":
		var metrics []map[string]any
		for curve, points := range here.points {
			last := 0
			for step := range points {
				last = max(last, step)
			}
			metrics = append(metrics, map[string]any{"key": curve, "step": last})
		}
		var params []entry
		for k, v := range here.params {
			params = append(params, entry{k, v})
		}
		out["run"] = map[string]any{"info": map[string]string{"run_id": id}, "data": map[string]any{"metrics": metrics, "params": params}}
	case what == "update":
		here.status = in.Status
	}
	if here != nil {
		for _, p := range in.Params {
			here.params[p.Key] = p.Value
		}
		for _, p := range in.Tags {
			here.tags[p.Key] = p.Value
		}
		for _, m := range in.Metrics {
			if here.points[m.Key] == nil {
				here.points[m.Key] = map[int]float64{}
			}
			if _, there := here.points[m.Key][m.Step]; there {
				here.twice++
			}
			here.points[m.Key][m.Step] = m.Value
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

// be lets it answer or not.
func (s *trackingServer) be(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

// trackedMetrics are the figures of metrics.jsonl as the server should have them, but for those about time.
func trackedMetrics(t *testing.T, dir string) map[string]map[int]float64 {
	t.Helper()
	want := map[string]map[int]float64{}
	for m, err := range history(filepath.Join(dir, metricsFile), "") {
		if err != nil {
			t.Fatal(err)
		}
		if timely.MatchString(m.Key) {
			continue
		}
		if want[m.Key] == nil {
			want[m.Key] = map[int]float64{}
		}
		want[m.Key][int(m.Step)] = m.Value
	}
	return want
}

// mustBeTold holds a run at the server to metrics.jsonl.
func mustBeTold(t *testing.T, s *trackingServer, run int, dir string, status mlflow.Status) *trackedHere {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.runs) <= run {
		t.Fatalf("there are %d runs", len(s.runs))
	}
	x := s.runs[run]
	got := map[string]map[int]float64{}
	for curve, points := range x.points {
		if !timely.MatchString(curve) {
			got[curve] = points
		}
	}
	if diff := cmp.Diff(trackedMetrics(t, dir), got); diff != "" || len(got) < 10 {
		t.Errorf("the server has others: %s", diff)
	}
	if x.status != string(status) || x.twice != 0 {
		t.Errorf("it is %s, want %s; %d points twice", x.status, status, x.twice)
	}
	return x
}

// trackedConfig is a run that a server is told of.
func trackedConfig(t *testing.T, s *trackingServer) Config {
	manifest := speak(t, babble(10, 3, 1)...)
	cfg := small(tiny(t, manifest))
	cfg.Data.ValManifest, cfg.Data.TestManifest = []string{manifest}, []string{manifest}
	cfg.Run.MLflow, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates, cfg.Run.MemoryLog = s.URL, 2, 3, 8, "off"
	return cfg
}

// A run is at the server what it is in metrics.jsonl, and no weight is another.
func TestTrackedRun(t *testing.T) {
	s := newTrackingServer(t)
	cfg := trackedConfig(t, s)
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "MLflow: "+s.URL+", experiment konkanitrain, run run0")
	x := mustBeTold(t, s, 0, cfg.Run.CheckpointDir, mlflow.Finished)
	if x.params["max_updates"] != "8" || x.params["learning_rate"] != "0.001" || x.params["val_manifest"] == "" || len(x.params) < 60 {
		t.Errorf("parameters %v", x.params)
	}
	for curve, n := range map[string]int{"train/loss": 8, "validation/wer": 3, "test/cer": 1, "train/real_time": 8, "train_memory/peak": 8} {
		if len(x.points[curve]) != n {
			t.Errorf("%s has %d points, want %d", curve, len(x.points[curve]), n)
		}
	}
	without := elsewhere(t, cfg)
	without.Run.MLflow = ""
	mustRun(t, without)
	mustEqualRun(t, cfg.Run.CheckpointDir, without.Run.CheckpointDir, 8)
}

// A run that was killed and goes on is the same one at the server, which has each point once, whatever it had of it;
// one in another folder is another.
func TestTrackedRunGoesOn(t *testing.T) {
	s := newTrackingServer(t)
	straight := trackedConfig(t, s)
	mustRun(t, straight)
	cfg := elsewhere(t, straight)
	ctx, stop := context.WithCancel(t.Context())
	r, err := setUp(ctx, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.hook = atUpdate(5, func() { s.be(true); stop() }) // it has been told of what came before, or hasn't
	if err = r.ending(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	r.tracker.Close(statusOf(err), 1) // ten seconds are too long for a test
	testkit.MustContain(t, strings.Join(r.tracker.News(), "\n"), "WARNING: MLflow at "+s.URL)
	r.tracker = nil
	r.close()
	s.be(false)
	cfg = withResume(cfg)
	cfg.Run.LogEvery = 2
	mustRun(t, cfg)
	s.mu.Lock()
	runs := len(s.runs)
	s.mu.Unlock()
	if runs > 2 {
		t.Errorf("%d runs", runs)
	}
	x := mustBeTold(t, s, 1, cfg.Run.CheckpointDir, mlflow.Finished)
	if kept := x.params["log_every"]; kept != "1" && kept != "2" || kept == "1" && x.tags["changed.log_every"] != "2" {
		t.Errorf("parameters %v, tags %v", x.params, x.tags)
	}
	fork := elsewhere(t, straight)
	fork.Run.Resume = filepath.Join(straight.Run.CheckpointDir, checkpoint.Name(4))
	mustRun(t, fork)
	if x := mustBeTold(t, s, 2, fork.Run.CheckpointDir, mlflow.Finished); len(x.points["train/loss"]) != 4 {
		t.Errorf("a run from elsewhere has %v", x.points["train/loss"])
	}
}

// A server that is told of a run later than from its start is told all of it.
func TestTrackedLater(t *testing.T) {
	s := newTrackingServer(t)
	cfg := trackedConfig(t, s)
	cfg.Run.MLflow, cfg.Optimizer.MaxUpdates = "", 4
	mustRun(t, cfg)
	cfg.Run.MLflow, cfg.Optimizer.MaxUpdates = s.URL, 6
	mustRun(t, withResume(cfg))
	mustBeTold(t, s, 0, cfg.Run.CheckpointDir, mlflow.Finished)
	// What another run wrote before doesn't count.
	for _, step := range steps(t, cfg.Run.CheckpointDir) {
		remove(t, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(step)))
	}
	cfg.Optimizer.MaxUpdates = 3
	mustRun(t, cfg)
	if x := mustBeTold(t, s, 1, cfg.Run.CheckpointDir, mlflow.Finished); len(x.points["train/loss"]) != 3 {
		t.Errorf("a new run has %v", x.points["train/loss"])
	}
}

// A run whose file of the server's run is damaged doesn't begin; one of another server is none.
func TestTrackedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), trackedFile)
	if id, err := trackedRun(path, "http://a"); id != "" || err != nil {
		t.Errorf("%q, %v without a file", id, err)
	}
	write(t, path, `{"server":"http://a","run_id":"abc"}`)
	for server, want := range map[string]string{"http://a": "abc", "http://b": ""} {
		if id, err := trackedRun(path, server); id != want || err != nil {
			t.Errorf("%s: %q, %v", server, id, err)
		}
	}
	write(t, path, "{")
	_, err := trackedRun(path, "http://a")
	testkit.MustFail(t, err, path, "remove it, and the run begins anew there")
	cfg := Default()
	cfg.Run.MLflow = "https://me:hush@host"
	err = cfg.Validate()
	testkit.MustFail(t, err, "MLFLOW_TRACKING_TOKEN")
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("%v tells a secret", err)
	}
}

func TestStatusOfARun(t *testing.T) {
	for _, c := range []struct {
		err  error
		want mlflow.Status
	}{
		{nil, mlflow.Finished}, {fmt.Errorf("%w; go on", ErrInterrupted), mlflow.Killed}, {context.Canceled, mlflow.Killed}, {ErrOutOfMemory, mlflow.Failed},
	} {
		if got := statusOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}

// Lines that are no records, and records without figures, have no points; what lies deeper has a group of its own.
func TestPointsOf(t *testing.T) {
	for _, line := range []string{"", "{", `{"event":"start","time":"2026-01-01T00:00:00Z","update":0}`, `{"event":"update","time":"now","update":1}`, `[]`} {
		if p := pointsOf([]byte(line)); p != nil {
			t.Errorf("%s: %+v", line, p)
		}
	}
	p := pointsOf([]byte(`{"event":"update","time":"2026-01-01T00:00:00Z","run":"/a","update":3,"loss":1.5,"ce":null,"memory":{"peak":7,"by":{"arena":2}},"list":[1],
		"seconds":2,"audio":8,"utterances":6,"on":true}`))
	want := []point{{"train/audio", 8}, {"train/loss", 1.5}, {"train_memory/by/arena", 2}, {"train_memory/peak", 7}, {"train/seconds", 2}, {"train/utterances", 6},
		{"train/real_time", 4}, {"train/utterances_per_second", 3}}
	if p.update != 3 || p.run != "/a" || p.event != "update" || !slices.Equal(p.list, want) {
		t.Errorf("%+v", p)
	}
	for curve, event := range map[string]string{"train/loss": "update", "train_memory/by/arena": "update", "validation_score/words/del": "validation", "gradients/ctc": "",
		"gradient_norm/ctc": "", "run/config": "", "test/wer": "test", "training/x": ""} {
		if got := eventOf(curve); got != event {
			t.Errorf("%s is of %q, want %q", curve, got, event)
		}
	}
}

// Where the folder was removed and is made again, a resumed run is still the one that the server knows.
func TestTrackedInARenewedFolder(t *testing.T) {
	s := newTrackingServer(t)
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.MLflow, cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = s.URL, 2, 6
	dir := cfg.Run.CheckpointDir
	r := start(t, cfg, nil)
	r.hook = atUpdate(3, func() {
		for range 1000 { // the server is told by another goroutine
			if id, err := trackedRun(filepath.Join(dir, trackedFile), s.URL); err == nil && id != "" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		remove(t, dir)
	})
	mustEnd(t, r)
	r.close()
	if id, err := trackedRun(filepath.Join(dir, trackedFile), s.URL); err != nil || id != "run0" {
		t.Errorf("the run is %q, %v", id, err)
	}
	cfg.Optimizer.MaxUpdates = 7
	mustRun(t, withResume(cfg))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.runs) != 1 || len(s.runs[0].points["train/loss"]) != 7 {
		t.Errorf("%d runs at the server, the first with %d losses", len(s.runs), len(s.runs[0].points["train/loss"]))
	}
}
