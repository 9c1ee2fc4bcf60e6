//go:build mlflow

package train

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/internal/mlflow"
	"konkanitrain/internal/testkit"
)

// mlflowPython names a Python that has MLflow's server.
const mlflowPython = "KONKANITRAIN_MLFLOW"

// A run that was killed, while MLflow's own server was away for a part of it, is there in the end as it is in
// metrics.jsonl: every point of every curve once, parameters, tags and its end.
func TestMLflowIsTold(t *testing.T) {
	python := os.Getenv(mlflowPython)
	if python == "" {
		t.Fatalf("%s names no Python with MLflow", mlflowPython)
	}
	folder, port := t.TempDir(), freePort(t)
	server := fmt.Sprintf("http://127.0.0.1:%d", port)
	up := func() (stop func()) {
		return serve(t, server+"/health", folder, python, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--workers", "1",
			"--backend-store-uri", "sqlite:///"+filepath.Join(folder, "mlflow.db"), "--artifacts-destination", filepath.Join(folder, "artifacts"))
	}
	down := up()
	train, val := speak(t, babble(23, 5, 1)...), speak(t, babble(12, 5, 2)...)
	cfg := tiny(t, train)
	cfg.Data.ValManifest, cfg.Data.TestManifest, cfg.Run.MLflow, cfg.Run.MLflowExp = []string{val}, []string{val}, server, "words & numbers"
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = 5, 2, 12
	killed(t, cfg) // behind update 7
	down()
	cfg = withResume(cfg)
	cfg.Optimizer.MaxUpdates = 9
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "WARNING: MLflow at "+server+" can't be told of the run now, and the run goes on", "they are sent when the run is resumed")
	up()
	cfg.Optimizer.MaxUpdates = 12
	said = mustRun(t, cfg)
	testkit.MustContain(t, said, "MLflow: "+server+", experiment words & numbers, run ")

	var experiment struct {
		Experiment struct {
			ID string `json:"experiment_id"`
		}
	}
	ask(t, server+"/api/2.0/mlflow/experiments/get-by-name?experiment_name="+url.QueryEscape("words & numbers"), &experiment)
	if experiment.Experiment.ID == "" {
		t.Fatal("there is no experiment")
	}
	id, err := trackedRun(filepath.Join(cfg.Run.CheckpointDir, trackedFile), server)
	if err != nil || id == "" {
		t.Fatalf("the run %q, %v", id, err)
	}
	var found struct {
		Run struct {
			Info struct {
				Status     string
				Name       string `json:"run_name"`
				Experiment string `json:"experiment_id"`
			}
			Data struct {
				Metrics      []mlflow.Metric
				Params, Tags []struct{ Key, Value string }
			}
		}
	}
	api := server + "/api/2.0/mlflow/"
	ask(t, api+"runs/get?run_id="+id, &found)
	run := found.Run
	if run.Info.Status != string(mlflow.Finished) || run.Info.Name != "run" && run.Info.Name != filepath.Base(cfg.Run.CheckpointDir) || run.Info.Experiment != experiment.Experiment.ID {
		t.Errorf("%+v", run.Info)
	}
	params, tags := map[string]string{}, map[string]string{}
	for _, p := range run.Data.Params {
		params[p.Key] = p.Value
	}
	for _, p := range run.Data.Tags {
		tags[p.Key] = p.Value
	}
	if params["max_updates"] != "12" || params["d_model"] != "16" || len(params) < 60 || tags["konkanitrain.version"] == "" || tags["mlflow.source.name"] != "konkanitrain" {
		t.Errorf("%d parameters, max_updates %s; tags %v", len(params), params["max_updates"], tags)
	}
	want := map[string]map[int]float64{}
	for m, err := range history(filepath.Join(cfg.Run.CheckpointDir, metricsFile), "") {
		if err != nil {
			t.Fatal(err)
		}
		if want[m.Key] == nil {
			want[m.Key] = map[int]float64{}
		}
		want[m.Key][int(m.Step)] = m.Value
	}
	if len(run.Data.Metrics) != len(want) || len(want) < 30 {
		t.Errorf("%d curves, want %d", len(run.Data.Metrics), len(want))
	}
	for curve, points := range want {
		var history struct{ Metrics []mlflow.Metric }
		ask(t, api+"metrics/get-history?run_id="+id+"&metric_key="+url.QueryEscape(curve), &history)
		seen := map[int64]bool{}
		for _, m := range history.Metrics {
			v, there := points[int(m.Step)]
			// Between its sessions it was validated and tested at an end that it then passed.
			passed := m.Step == 9 && eventOf(curve) != "update"
			if seen[m.Step] || !there && !passed || there && !timely.MatchString(curve) && v != m.Value {
				t.Errorf("%s: step %d is %v, want %v", curve, m.Step, m.Value, v)
			}
			seen[m.Step] = true
		}
		for step := range points {
			if !seen[int64(step)] {
				t.Errorf("%s: step %d is missing", curve, step)
			}
		}
	}
}
