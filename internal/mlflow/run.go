package mlflow

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// Metric is one point of a curve.
type Metric struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
	Time  int64   `json:"timestamp"` // milliseconds since 1970
	Step  int64   `json:"step"`
}

// Status is what became of a run.
type Status string

// The values of Status.
const (
	Running  Status = "RUNNING"
	Finished Status = "FINISHED"
	Failed   Status = "FAILED"
	Killed   Status = "KILLED"
)

// pair is a parameter or a tag.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// pairs are a map's, in the order of their keys, within the limits.
func pairs(of map[string]string) (list []pair) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		list = append(list, pair{short(k, mostKey), short(of[k], mostValue)})
	}
	return list
}

const (
	notThere = "RESOURCE_DOES_NOT_EXIST"
	thereNow = "RESOURCE_ALREADY_EXISTS"
	removed  = "deleted" // a lifecycle stage
)

// experiment finds an experiment by its name, or makes it.
func (c *client) experiment(ctx context.Context, name string) (id string, err error) {
	for try := 0; ; try++ {
		var found struct {
			Experiment struct {
				ID    string `json:"experiment_id"`
				Stage string `json:"lifecycle_stage"`
			}
		}
		err := c.call(ctx, "experiments/get-by-name?experiment_name="+url.QueryEscape(name), nil, &found)
		if err == nil && found.Experiment.Stage == removed {
			return "", fmt.Errorf("the experiment %s is deleted there: restore it, or choose another by mlflow_experiment", name)
		}
		if err == nil || !refused(err, notThere) {
			return found.Experiment.ID, err
		}
		var made struct {
			ID string `json:"experiment_id"`
		}
		err = c.call(ctx, "experiments/create", map[string]string{"name": name}, &made)
		if err == nil || !refused(err, thereNow) || try > 0 { // another run has made it just now
			return made.ID, err
		}
	}
}

// remote is a run as the server has it.
type remote struct {
	Info struct {
		ID    string `json:"run_id"`
		Stage string `json:"lifecycle_stage"`
	}
	Data struct {
		Metrics []Metric // the last of each key
		Params  []pair
	}
}

// create makes a run.
func (c *client) create(ctx context.Context, experiment, name string, tags map[string]string) (id string, err error) {
	var made struct{ Run remote }
	err = c.call(ctx, "runs/create", map[string]any{
		"experiment_id": experiment, "run_name": name, "start_time": time.Now().UnixMilli(), "tags": pairs(tags),
	}, &made)
	if err == nil && made.Run.Info.ID == "" {
		err = fmt.Errorf("what answers is no MLflow server: %sruns/create names no run", c.base)
	}
	return made.Run.Info.ID, err
}

// get looks a run up.
func (c *client) get(ctx context.Context, id string) (*remote, error) {
	var found struct{ Run remote }
	err := c.call(ctx, "runs/get?run_id="+url.QueryEscape(id), nil, &found)
	return &found.Run, err
}

// setStatus says what became of a run, or that it goes on.
func (c *client) setStatus(ctx context.Context, id string, s Status) error {
	body := map[string]any{"run_id": id, "status": s}
	if s != Running {
		body["end_time"] = time.Now().UnixMilli()
	}
	return c.call(ctx, "runs/update", body, nil)
}

// log sends metrics, parameters and tags, no more than one request takes of each.
func (c *client) log(ctx context.Context, id string, metrics []Metric, params, tags []pair) error {
	body := map[string]any{"run_id": id}
	if len(metrics) > 0 {
		body["metrics"] = metrics
	}
	if len(params) > 0 {
		body["params"] = params
	}
	if len(tags) > 0 {
		body["tags"] = tags
	}
	return c.call(ctx, "runs/log-batch", body, nil)
}
