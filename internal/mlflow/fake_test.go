package mlflow

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// fake is a server with the interface's rules: it counts what is told twice, and refuses what is beyond the limits.
type fake struct {
	*httptest.Server
	t *testing.T

	mu          sync.Mutex
	experiments map[string]string // name -> id
	stage       string            // of experiments
	runs        map[string]*fakeRun
	calls       map[string]int
	largest     [3]int // metrics, parameters and tags of a request
	answer      func(w http.ResponseWriter, r *http.Request) (done bool)
	headers     []http.Header
}

type fakeRun struct {
	name, experiment, status, stage string
	ended                           bool
	params, tags                    map[string]string
	points                          map[string]map[int64]float64
	twice                           int
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, experiments: map[string]string{}, runs: map[string]*fakeRun{}, calls: map[string]int{}, stage: "active"}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// set changes how it answers; nil is as it should.
func (f *fake) set(answer func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// with looks at it while it does nothing.
func (f *fake) with(look func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	look()
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	answer := f.answer
	f.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headers = append(f.headers, r.Header)
	what := strings.TrimPrefix(r.URL.Path, "/api/2.0/mlflow/")
	f.calls[what]++
	refuse := func(status int, code, text string, args ...any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error_code": code, "message": fmt.Sprintf(text, args...)})
	}
	var in struct {
		Name         string
		ExperimentID string `json:"experiment_id"`
		RunID        string `json:"run_id"`
		RunName      string `json:"run_name"`
		Status       string
		EndTime      *int64 `json:"end_time"`
		StartTime    int64  `json:"start_time"`
		Metrics      []Metric
		Params, Tags []pair
	}
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			f.t.Error(err)
		}
	}
	give := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	run := func(id string) *fakeRun {
		if f.runs[id] == nil {
			refuse(404, notThere, "Run with id=%s not found", id)
		}
		return f.runs[id]
	}
	switch what {
	case "experiments/get-by-name":
		name := r.URL.Query().Get("experiment_name")
		if f.experiments[name] == "" {
			refuse(404, notThere, "Could not find experiment with name %s", name)
			return
		}
		give(map[string]any{"experiment": map[string]string{"experiment_id": f.experiments[name], "lifecycle_stage": f.stage}})
	case "experiments/create":
		if f.experiments[in.Name] != "" {
			refuse(400, thereNow, "Experiment(name=%s) already exists", in.Name)
			return
		}
		f.experiments[in.Name] = fmt.Sprint(1 + len(f.experiments))
		give(map[string]string{"experiment_id": f.experiments[in.Name]})
	case "runs/create":
		if in.StartTime < 1e12 {
			f.t.Errorf("it starts at %d ms", in.StartTime)
		}
		id := fmt.Sprintf("run%d", 1+len(f.runs))
		f.runs[id] = &fakeRun{in.RunName, in.ExperimentID, "RUNNING", "active", false, map[string]string{}, map[string]string{}, map[string]map[int64]float64{}, 0}
		for _, x := range in.Tags {
			f.runs[id].tags[x.Key] = x.Value
		}
		give(map[string]any{"run": map[string]any{"info": map[string]string{"run_id": id, "lifecycle_stage": "active"}}})
	case "runs/get":
		if x := run(r.URL.Query().Get("run_id")); x != nil {
			give(x.found(r.URL.Query().Get("run_id")))
		}
	case "runs/update":
		if x := run(in.RunID); x != nil {
			x.status, x.ended = in.Status, in.EndTime != nil
			give(map[string]any{})
		}
	case "runs/log-batch":
		x := run(in.RunID)
		if x == nil {
			return
		}
		for i, n := range []int{len(in.Metrics), len(in.Params), len(in.Tags)} {
			f.largest[i] = max(f.largest[i], n)
		}
		if len(in.Metrics) > 1000 || len(in.Params) > 100 || len(in.Tags) > 100 {
			refuse(400, "INVALID_PARAMETER_VALUE", "too many")
			return
		}
		for _, p := range append(in.Params, in.Tags...) {
			if len(p.Key) > 250 || len(p.Value) > 500 {
				refuse(400, "INVALID_PARAMETER_VALUE", "too long")
				return
			}
		}
		for _, p := range in.Params {
			if old, there := x.params[p.Key]; there && old != p.Value {
				refuse(400, "INVALID_PARAMETER_VALUE", "Changing param values is not allowed")
				return
			}
			x.params[p.Key] = p.Value
		}
		for _, p := range in.Tags {
			x.tags[p.Key] = p.Value
		}
		for _, m := range in.Metrics {
			if x.points[m.Key] == nil {
				x.points[m.Key] = map[int64]float64{}
			}
			if _, there := x.points[m.Key][m.Step]; there {
				x.twice++
			}
			x.points[m.Key][m.Step] = m.Value
		}
		give(map[string]any{})
	default:
		refuse(404, "ENDPOINT_NOT_FOUND", "no %s", what)
	}
}

// found is a run as runs/get gives it: of each metric the last point.
func (x *fakeRun) found(id string) any {
	metrics, params := []Metric{}, []pair{}
	for key, points := range x.points {
		last := Metric{Key: key, Step: -1}
		for step, value := range points {
			if step > last.Step {
				last.Step, last.Value = step, value
			}
		}
		metrics = append(metrics, last)
	}
	for key, value := range x.params {
		params = append(params, pair{key, value})
	}
	return map[string]any{"run": map[string]any{
		"info": map[string]string{"run_id": id, "lifecycle_stage": x.stage}, "data": map[string]any{"metrics": metrics, "params": params},
	}}
}
