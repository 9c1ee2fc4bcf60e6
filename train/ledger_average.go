package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/recognize"
)

// averagedDir holds the averaged weights, as a folder of checkpoints with one in it.
func (l *ledger) averagedDir() string { return filepath.Join(l.dir, recognize.AveragedDir) }

// noteDue keeps the update whose save was due, and enough of those before it.
func (l *ledger) noteDue() {
	due := append(l.state.Due, l.state.Progress.Updates)
	l.state.Due = due[max(0, len(due)-max(l.cfg.Run.KeepLast, l.cfg.Run.AverageLast)):]
}

// averagedUpdates lists the updates whose weights the average of n is made of: the last ones whose saves were due, and
// the last of the run. A save that only an interruption brought about is not among them, so that a run cut short and
// resumed has the average of the run that was not.
func (l *ledger) averagedUpdates(n int) []int {
	list, last := slices.Clone(l.state.Due), l.state.Progress.Updates
	if len(list) == 0 || list[len(list)-1] != last {
		list = append(list, last)
	}
	return list[max(0, len(list)-n):]
}

// refuseAverage keeps a new run from replacing the averaged weights of an earlier one.
func (l *ledger) refuseAverage() error {
	entries, err := checkpoint.List(l.averagedDir())
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s holds the averaged weights of an earlier run, which this one would replace: move that folder away, or choose another checkpoint_dir", l.averagedDir())
	}
	return err
}

// average replaces the weights by the mean of those of the last n checkpoints, and saves them as a checkpoint of its
// own, without an optimizer. The last weights of a run are a draw from a noisy process; their mean lies nearer its
// middle (Polyak and Juditsky 1992; checkpoint averaging as in Vaswani et al. 2017, section 6.1). It ends a run: the
// moments' memory is used to read the checkpoints.
func (r *run) average(ctx context.Context, n int) error {
	l := r.ledger
	a, err := l.mean(n)
	if err != nil {
		return err
	}
	if r.sets.val != nil {
		e, err := r.scoreValidation(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return r.saidInterrupted()
			}
			return err
		}
		r.report.say("validation of the averaged weights: %v", e)
		said := l.state.Blanks
		r.sayTroubles(e, &said)
		r.sayConfidences("averaged weights", e)
		if best := l.state.Best; best != nil && l.best != "" && best.Gain(e, recognize.Measure(l.cfg.Run.BestBy)) >= muchWorse {
			r.report.say("WARNING: the averaged weights are worse in validation than the best checkpoint (%v). eval and transcribe take them all the same; "+
				"name %s to use that. An average_last below %d averages fewer weights, and later ones", best, l.best, len(a.state.Averaged))
		}
		// The only checkpoint of its folder is its best.
		updates := l.state.Progress.Updates
		a.state.judgment = judgment{Score: e, Best: e, BestStep: updates, Judged: updates}
	}
	path, err := l.saveAverage(a, r.sets.val != nil)
	if err != nil {
		return err
	}
	what := "saved"
	if a.kept {
		what = "kept"
	}
	few := ""
	if len(a.wanted) < n {
		few = fmt.Sprintf(" (average_last is %d: there are no others)", n)
	}
	r.report.say("%s %s: the mean of the weights after %s%s", what, path, recognize.UpdatesText(a.state.Averaged), few)
	r.record("average", map[string]any{"updates": a.state.Averaged, "path": path, "score": a.state.Score})
	return nil
}

// muchWorse is by how much averaged weights are worse than the best ones where that is said: points of percent, or
// nats.
const muchWorse = 1

// averaged is the average in memory, on its way to disk.
type averaged struct {
	state  state // of its checkpoint
	wanted []int // updates that it should be made of
	kept   bool  // it is the one that was there
}

// mean takes the average into memory: the one that is there, where nothing better can be made, or a new one.
func (l *ledger) mean(n int) (averaged, error) {
	newest, err := checkpoint.Open(l.newest)
	if err != nil {
		return averaged{}, err
	}
	a := averaged{state: l.state, wanted: l.averagedUpdates(n)}
	a.state.AverageOf, a.state.Before, a.state.judgment = newest.ModelSHA256, nil, judgment{}
	parts, lost := l.averageParts(a.wanted)
	old, err := l.keepAverage(newest, a.wanted, len(parts)+1)
	if err != nil {
		return a, err
	}
	if old != nil {
		a.kept, a.state.Averaged, a.state.judgment = true, old.Averaged, old.judgment
		return a, nil
	}
	for _, err := range lost {
		l.report.say("WARNING: left out of the average: %v", err)
	}
	a.state.Averaged, err = l.meanWith(parts)
	return a, err
}

// averageParts opens the checkpoints of all updates but the last, whose weights are in memory, the newest first, and
// says which can't be used.
func (l *ledger) averageParts(updates []int) (parts []*checkpoint.Checkpoint, lost []error) {
	for _, update := range slices.Backward(updates[:len(updates)-1]) {
		c, err := checkpoint.Open(filepath.Join(l.dir, checkpoint.Name(update)))
		if err != nil {
			lost = append(lost, err)
			continue
		}
		parts = append(parts, c)
	}
	return parts, lost
}

// keepAverage takes the weights of the average that is there and returns its state, if it was made at this very end
// of training, of all that it should be made of or of no fewer checkpoints than there are now: those removed since
// can't be had again. Else it returns nil.
func (l *ledger) keepAverage(newest *checkpoint.Checkpoint, updates []int, now int) (*state, error) {
	old, err := checkpoint.Open(filepath.Join(l.averagedDir(), checkpoint.Name(newest.Step)))
	if err != nil {
		return nil, nil // there is none, or a damaged one
	}
	var s state
	if err := old.State(&s); err != nil || !l.endedWith(s.AverageOf, newest) {
		return nil, nil
	}
	if !slices.Equal(s.Averaged, updates) && (now == len(updates) || len(s.Averaged) < now) {
		return nil, nil
	}
	return &s, old.LoadModel(l.memory.weights())
}

// endedWith says whether the run ended with the model of this SHA-256: with that of the newest checkpoint, or with that
// of the checkpoint that a finished run began with, which differs in the score alone where a validation came after it.
func (l *ledger) endedWith(model string, newest *checkpoint.Checkpoint) bool {
	return model == newest.ModelSHA256 || l.finished && model == l.origin.Checkpoint.ModelSHA256
}

// meanWith replaces the weights in memory by their mean with those of the parts, and names the updates of all.
func (l *ledger) meanWith(parts []*checkpoint.Checkpoint) ([]int, error) {
	used, err := l.memory.replica.Mean(len(parts), func(i int) error {
		err := parts[i].LoadModel(l.memory.asMoments())
		if err != nil {
			l.report.say("WARNING: left out of the average: %v", err)
		}
		return err
	})
	updates := []int{l.state.Progress.Updates}
	for _, i := range used {
		updates = append(updates, parts[i].Step)
	}
	slices.Reverse(updates)
	return updates, err
}

// asMoments takes weights in as first moments. The frozen ones are the same in each checkpoint of a run: theirs are
// passed over.
func (m memory) asMoments() []checkpoint.Tensor {
	var list []checkpoint.Tensor
	for _, p := range m.parameters {
		if m.learns(p) {
			list = append(list, m.tensor(engine.FirstMoments, "", p))
		} else {
			list = append(list, passedOver(p))
		}
	}
	return list
}

// saveAverage writes the average and removes an earlier one. One that was kept is written again where it was scored
// anew: the score is that of the validation set of now.
func (l *ledger) saveAverage(a averaged, scored bool) (path string, err error) {
	dir := l.averagedDir()
	path = filepath.Join(dir, checkpoint.Name(l.state.Progress.Updates))
	if !a.kept || scored {
		var description map[string]string
		if description, err = l.describe(&a.state); err == nil {
			path, err = l.write(dir, checkpoint.Content{Model: l.memory.weights(), Description: description, State: &a.state})
		}
		if err != nil {
			return "", fmt.Errorf("%w; the run itself is saved, and this makes the average later: %s", err, l.resumeCommand(""))
		}
	}
	if err := checkpoint.RemoveOthers(dir, path); err != nil {
		l.report.say("WARNING: an earlier average stays: %v", err)
	}
	return path, nil
}

// dropAverage removes the averaged weights of an earlier end of training, where this one makes none.
func (l *ledger) dropAverage() error {
	dir := l.averagedDir()
	entries, err := checkpoint.List(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	if err := checkpoint.RemoveOthers(dir, ""); err != nil {
		return err
	}
	l.report.say("removed the averaged weights in %s: average_last is 0 now", dir)
	_ = os.Remove(dir) // empty now, unless somebody keeps other things there
	return nil
}
