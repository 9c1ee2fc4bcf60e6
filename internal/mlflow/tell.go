package mlflow

import (
	"context"
	"fmt"
)

// What a tracker's goroutine tells the server.

// tell tells the server all that it doesn't know yet.
func (t *Tracker) tell(ctx context.Context) error {
	if t.last == nil {
		if err := t.begin(ctx); err != nil {
			return err
		}
	}
	if !t.caught { // before what is queued
		if _, err := t.sendHistory(ctx); err != nil {
			return err
		}
		t.caught = true
	}
	for {
		batch, behind, status := t.next()
		var err error
		switch {
		case len(batch) > 0:
			if err = t.send(ctx, batch); err == nil {
				t.take(len(batch))
			}
		case behind:
			err = t.catchUp(ctx)
		case status != "":
			if err = t.client.setStatus(ctx, t.id, status); err == nil {
				t.mu.Lock()
				t.ended = true
				t.mu.Unlock()
				return nil
			}
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// send sends points that the server doesn't have. Those that it refuses are lost.
func (t *Tracker) send(ctx context.Context, points []Metric) error {
	var fresh []Metric
	for _, m := range points {
		if last, there := t.last[m.Key]; !there || m.Step > last {
			fresh = append(fresh, m)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := t.client.log(ctx, t.id, fresh, nil, nil)
	if err != nil && passing(err) {
		return err
	}
	for _, m := range fresh {
		t.last[m.Key] = m.Step
	}
	if err != nil {
		t.mu.Lock()
		t.lost += len(fresh)
		t.mu.Unlock()
		t.warn(fmt.Sprintf("WARNING: MLflow at %s refuses points: %v", t.o.Server, err))
	}
	return nil
}

// catchUp sends what the history has and the server doesn't.
func (t *Tracker) catchUp(ctx context.Context) error {
	t.mu.Lock()
	t.behind = false // what is added from now on is queued, though it may be in the history too
	missed := t.missed
	t.mu.Unlock()
	sent, err := t.sendHistory(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.behind = true
		return err
	}
	t.missed -= missed
	t.lost += max(0, missed-sent)
	return nil
}

// sendHistory sends the history, and counts what was new of it.
func (t *Tracker) sendHistory(ctx context.Context) (sent int, err error) {
	if t.o.History == nil {
		return 0, nil
	}
	var batch []Metric
	for m, err := range t.o.History {
		if err != nil {
			t.warn(fmt.Sprintf("WARNING: MLflow at %s may lack what was told earlier, which can't be read: %v", t.o.Server, err))
			break
		}
		if last, there := t.last[m.Key]; there && m.Step <= last {
			continue
		}
		if batch = append(batch, m); len(batch) == mostMetrics {
			if err := t.send(ctx, batch); err != nil {
				return sent, err
			}
			sent += len(batch)
			batch = batch[:0]
		}
	}
	sent += len(batch)
	return sent, t.send(ctx, batch)
}

// begin finds or makes the run, and tells of its parameters and tags.
func (t *Tracker) begin(ctx context.Context) error {
	if t.id == "" {
		t.id = t.o.RunID
	}
	there := &remote{}
	if t.id != "" {
		var err error
		there, err = t.client.get(ctx, t.id)
		gone := refused(err, notThere) || err == nil && there.Info.Stage == removed
		if err != nil && !gone {
			return err
		}
		if gone {
			t.say("WARNING: MLflow at %s has the run %s no more: a new one begins there", t.o.Server, t.id)
			t.id, there = "", &remote{}
		} else if err := t.client.setStatus(ctx, t.id, Running); err != nil {
			return err
		}
	}
	if t.id == "" {
		experiment, err := t.client.experiment(ctx, t.o.Experiment)
		if err != nil {
			return err
		}
		if t.id, err = t.client.create(ctx, experiment, t.o.Name, t.o.Tags); err != nil {
			return err
		}
		if err := t.o.Began(t.id); err != nil {
			t.say("WARNING: the id of the run at MLflow can't be kept, so a resumed run begins another one there: %v", err)
		}
	}
	if err := t.tellParams(ctx, there); err != nil {
		return err
	}
	t.last = map[string]int64{}
	for _, m := range there.Data.Metrics {
		t.last[m.Key] = m.Step
	}
	t.say("MLflow: %s, experiment %s, run %s", t.o.Server, t.o.Experiment, t.id)
	return nil
}

// tellParams sends parameters that the run doesn't have, and tags. A parameter there is never changed: another value is
// a tag, named changed.KEY.
func (t *Tracker) tellParams(ctx context.Context, there *remote) error {
	known := map[string]string{}
	for _, p := range there.Data.Params {
		known[p.Key] = p.Value
	}
	var params []pair
	tags := pairs(t.o.Tags)
	for _, p := range pairs(t.o.Params) {
		if value, there := known[p.Key]; !there {
			params = append(params, p)
		} else if value != p.Value {
			tags = append(tags, pair{"changed." + p.Key, p.Value})
		}
	}
	for len(params)+len(tags) > 0 {
		n, k := min(len(params), mostParams), min(len(tags), mostTags)
		err := t.client.log(ctx, t.id, nil, params[:n], tags[:k])
		if err != nil && passing(err) {
			return err
		}
		if err != nil {
			t.warn(fmt.Sprintf("WARNING: MLflow at %s refuses parameters: %v", t.o.Server, err))
		}
		params, tags = params[n:], tags[k:]
	}
	return nil
}
