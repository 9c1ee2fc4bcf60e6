package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/checkpoint"
)

// averagedDir is the folder inside a checkpoint_dir that holds the averaged weights.
const averagedDir = "averaged"

// noteDue keeps the update whose save was due, and enough of those before it.
func (t *trainer) noteDue() {
	due := append(t.state.Due, t.optimizer.Updates)
	t.state.Due = due[max(0, len(due)-max(t.cfg.Run.KeepLast, t.cfg.Run.AverageLast)):]
}

// averagedUpdates lists the updates whose weights the average of n is made of: the last ones whose saves were due, and
// the last of the run. A save that only an interruption brought about is not among them, so that a run cut short and
// resumed has the average of the run that was not.
func (t *trainer) averagedUpdates(n int) []int {
	list, last := slices.Clone(t.state.Due), t.optimizer.Updates
	if len(list) == 0 || list[len(list)-1] != last {
		list = append(list, last)
	}
	return list[max(0, len(list)-n):]
}

// average replaces the weights by the mean of those of the last n checkpoints, and saves them as a checkpoint of its
// own, without an optimizer. The last weights of a run are a draw from a noisy process; their mean lies nearer its
// middle (Polyak and Juditsky 1992; checkpoint averaging as in Vaswani et al. 2017, section 6.1). It ends a run: the
// moments' memory is used to read the checkpoints.
func (t *trainer) average(ctx context.Context, n int) error {
	newest, err := checkpoint.Open(t.last)
	if err != nil {
		return err
	}
	updates := t.averagedUpdates(n)
	parts, lost := t.averageParts(updates)
	old, err := t.keepAverage(newest, updates, len(parts)+1)
	if err != nil {
		return err
	}
	state, what := t.state, "kept"
	state.Averaged, state.AverageOf, state.Before, state.judgement = old.Averaged, newest.Model, nil, old.judgement
	if old.Averaged == nil {
		for _, err := range lost {
			t.report.say("WARNING: left out of the average: %v", err)
		}
		state.Averaged, what = t.meanWith(parts), "saved"
	}
	if t.val != nil {
		e, err := t.evaluate(ctx, t.val, t.cfg.Optimizer.BatchSize, nil)
		t.warn(t.val)
		if err != nil {
			if ctx.Err() != nil {
				return ErrInterrupted
			}
			return err
		}
		t.report.say("validation of the averaged weights: %v", e)
		t.sayTroubles(e, t.cfg.Data.ValManifest)
		// The only checkpoint of its folder is its best.
		state.judgement = judgement{Score: e, Best: e, BestStep: t.optimizer.Updates, Judged: t.optimizer.Updates}
	}
	dir := filepath.Join(t.cfg.Run.CheckpointDir, averagedDir)
	path := filepath.Join(dir, checkpoint.Name(t.optimizer.Updates))
	if what == "saved" || t.val != nil { // the score of a kept one is that of the validation set of now
		if path, err = t.write(dir, nil, &state); err != nil {
			return fmt.Errorf("%w; the run itself is saved, and --resume auto makes the average later", err)
		}
	}
	if err := checkpoint.RemoveOthers(dir, path); err != nil {
		t.report.say("WARNING: an earlier average stays: %v", err)
	}
	few := ""
	if len(updates) < n {
		few = fmt.Sprintf(" (average_last is %d: there are no others)", n)
	}
	t.report.say("%s %s: the mean of the weights after %s%s", what, path, updatesText(state.Averaged), few)
	t.record("average", map[string]any{"updates": state.Averaged, "path": path, "score": state.Score})
	return nil
}

// averageParts opens the checkpoints of all updates but the last, whose weights are in memory, the newest first, and
// says which can't be used.
func (t *trainer) averageParts(updates []int) (parts []*checkpoint.Checkpoint, lost []error) {
	for _, update := range slices.Backward(updates[:len(updates)-1]) {
		c, err := checkpoint.Open(filepath.Join(t.cfg.Run.CheckpointDir, checkpoint.Name(update)))
		if err != nil {
			lost = append(lost, err)
			continue
		}
		parts = append(parts, c)
	}
	return parts, lost
}

// keepAverage takes the weights of the average that is there and returns its state, if it was made at this very end of
// training, of all that it should be made of or of no fewer checkpoints than there are now: those removed since can't be
// had again. Else the state is empty.
func (t *trainer) keepAverage(newest *checkpoint.Checkpoint, updates []int, now int) (state, error) {
	old, err := checkpoint.Open(filepath.Join(t.cfg.Run.CheckpointDir, averagedDir, checkpoint.Name(newest.Step)))
	if err != nil {
		return state{}, nil // there is none, or a damaged one
	}
	var s state
	if err := old.State(&s); err != nil || s.AverageOf != newest.Model {
		return state{}, nil
	}
	if !slices.Equal(s.Averaged, updates) && (now == len(updates) || len(s.Averaged) < now) {
		return state{}, nil
	}
	return s, old.LoadModel(t.tensors("", t.weights.Floats()))
}

// meanWith replaces the weights in memory by their mean with those of the parts, and names the updates of all.
func (t *trainer) meanWith(parts []*checkpoint.Checkpoint) []int {
	sum, one, lost := t.weights.Floats(), t.optimizer.moments[0].Floats(), t.optimizer.moments[1].Floats()
	clear(lost)
	used := []int{t.optimizer.Updates}
	for _, c := range parts {
		if err := c.LoadModel(t.tensors("", one)); err != nil {
			t.report.say("WARNING: left out of the average: %v", err)
			continue
		}
		used = append(used, c.Step)
		addCompensated(sum, lost, one)
	}
	for i, v := range sum {
		sum[i] = v / float32(len(used))
	}
	slices.Reverse(used)
	return used
}

// dropAverage removes the averaged weights of an earlier end of training, where this one makes none.
func (t *trainer) dropAverage() error {
	dir := filepath.Join(t.cfg.Run.CheckpointDir, averagedDir)
	entries, err := checkpoint.List(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	if err := checkpoint.RemoveOthers(dir, ""); err != nil {
		return err
	}
	t.report.say("removed the averaged weights in %s: average_last is 0 now", dir)
	_ = os.Remove(dir) // empty now, unless somebody keeps other things there
	return nil
}

// addCompensated adds x to sum in float32; lost carries what rounding took away (Kahan 1965).
func addCompensated(sum, lost, x []float32) {
	for i, v := range x {
		y := float32(v - lost[i])
		s := float32(sum[i] + y)
		lost[i] = float32(s-sum[i]) - y
		sum[i] = s
	}
}

// updatesText is "updates 3, 4, 5".
func updatesText(updates []int) string {
	var s []string
	for _, n := range updates {
		s = append(s, strconv.Itoa(n))
	}
	noun := "updates "
	if len(s) == 1 {
		noun = "update "
	}
	return noun + strings.Join(s, ", ")
}
