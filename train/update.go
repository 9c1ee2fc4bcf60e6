package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/frames"
)

// outcome is what became of a window.
type outcome struct {
	loss, ctc, ce float64 // nats, summed over utterances
	utterances    int
	audio         float64 // seconds
	norm          float64 // of the gradient, before clipping
	infeasible    int     // utterances without a CTC alignment
	skipped       string  // why no update was made; "" if one was
}

// mostSkips is the number of windows in a row without an update after which a run stops.
const mostSkips = 10

// update trains on one window: forward and backward passes, one sum of gradients, one step of the optimizer.
// A window whose loss or gradient is not finite changes nothing: weights, moments, learning rate and the count
// of updates stay. The error is for what must stop the run.
func (t *trainer) update(w *data.Window) (outcome, error) {
	out := t.admit(w)
	if out.utterances == 0 {
		out.skipped = "none of its files can be read"
		return out, t.skip(w, out.skipped, "look at these files")
	}
	if out.infeasible == out.utterances && t.net.DecoderLayers == 0 {
		out.skipped = "all of its utterances have more characters than encoder frames: CTC has nothing to learn from"
		return out, t.skip(w, out.skipped, "lower subsampling, or look at these files and their texts")
	}
	scale := 1.0
	if t.cfg.Run.FP16 {
		scale = t.state.LossScale.Scale
	}
	t.pass.scale = float32(scale / float64(out.utterances))
	t.pass.update = t.optimizer.Updates + 1
	t.pass.losses = t.pass.losses[:len(w.Examples)]
	clear(t.pass.losses)
	batches := t.dealer.deal(w.Examples, t.net, t.cfg.Optimizer.BatchSize, len(t.crew.Workers))
	if err := t.run(w.Examples, batches, &t.pass); err != nil {
		return out, err
	}
	grads, squares, err := t.crew.Reduce()
	if err != nil {
		return out, err
	}
	for i, l := range t.pass.losses {
		if w.Examples[i].Err == nil {
			out.loss += l.total
			out.ctc += l.ctc
			out.ce += l.ce
		}
	}
	out.norm = math.Sqrt(squares) / scale
	if notFinite(out.norm) || notFinite(out.loss) {
		return out, t.overflow(w, &out)
	}
	t.optimizer.LR = LearningRate(t.cfg.Optimizer.LearningRate, t.cfg.Optimizer.WarmupUpdates, t.optimizer.Updates+1)
	t.optimizer.GradScale = ClipScale(out.norm, t.cfg.Optimizer.GradClip) / scale
	if t.cfg.Run.FP16 {
		t.state.LossScale.Succeeded()
	}
	t.state.Progress.InARow = 0
	if err := t.optimizer.Update(t.crew, t.weights.Floats(), grads); err != nil {
		return out, err
	}
	// A weight that no utterance uses can be NaN without any trace in the loss. Looking costs a pass over all weights.
	if t.optimizer.Updates%weightsEvery == 0 {
		return out, t.finite()
	}
	return out, nil
}

// weightsEvery is the number of updates between looks at whether all weights are finite.
const weightsEvery = 3

// admit counts a window's usable utterances and names the others.
func (t *trainer) admit(w *data.Window) outcome {
	var out outcome
	for _, e := range w.Examples {
		if e.Err != nil {
			t.state.Progress.Failed++
			t.report.say("WARNING: left out: %v", e.Err)
			continue
		}
		out.utterances++
		out.audio += e.Utt.Duration
		if !frames.Feasible(e.Frames, t.net.Subsampling, e.Tokens) {
			out.infeasible++
		}
	}
	t.state.Progress.Utterances += int64(out.utterances)
	t.state.Progress.Infeasible += int64(out.infeasible)
	return out
}

// overflow handles a loss or gradient that is not finite.
func (t *trainer) overflow(w *data.Window, out *outcome) error {
	if err := t.finite(); err != nil {
		return err
	}
	out.skipped = "its gradient is not finite"
	var bad []string
	for i, l := range t.pass.losses {
		if notFinite(l.total) {
			bad = append(bad, w.Examples[i].Utt.ID)
		}
	}
	if len(bad) > 0 {
		out.skipped = "the loss is not finite for " + list(bad, 5)
	}
	out.loss, out.ctc, out.ce = 0, 0, 0
	if t.cfg.Run.FP16 {
		if err := t.state.LossScale.Overflowed(); err != nil {
			return err
		}
		t.state.Progress.Skipped++
		t.report.say("window %d of epoch %d: no update: %s; the loss scale is %g now", w.Index+1, w.Epoch+1, out.skipped, t.state.LossScale.Scale)
		return nil
	}
	return t.skip(w, out.skipped, "lower learning_rate, or look at these files and their texts")
}

// skip counts a window without an update. Too many in a row are an error that names their utterances and gives advice.
func (t *trainer) skip(w *data.Window, why, advice string) error {
	p := &t.state.Progress
	p.Skipped++
	p.InARow++
	t.report.say("WARNING: window %d of epoch %d: no update: %s", w.Index+1, w.Epoch+1, why)
	if p.InARow == 1 {
		t.suspects = nil
	}
	for _, e := range w.Examples {
		if !slices.Contains(t.suspects, e.Utt.ID) { // a small set comes round again
			t.suspects = append(t.suspects, e.Utt.ID)
		}
	}
	if p.InARow < mostSkips {
		return nil
	}
	return fmt.Errorf("%d windows in a row gave no update, the last because %s; their utterances: %s; %s",
		p.InARow, why, list(t.suspects, 40), advice)
}

// finite names the first weight that is not a finite number.
func (t *trainer) finite() error {
	if norm, err := t.optimizer.Norm(t.crew, t.weights.Floats()); err != nil || !notFinite(norm) {
		return err
	}
	if name, i, v := t.oddWeight(); name != "" {
		return fmt.Errorf("weight %s[%d] is %g after update %d: nothing can be learned or saved from here; "+
			"go on from the last checkpoint with a lower learning_rate", name, i, v, t.optimizer.Updates)
	}
	return nil
}

// oddWeight is the first weight that is not a finite number; "" without one.
func (t *trainer) oddWeight() (name string, i int, v float32) {
	for _, p := range t.params {
		for i, v := range t.layout.View(t.weights.Floats(), p.Name) {
			if notFinite(float64(v)) {
				return p.Name, i, v
			}
		}
	}
	return "", 0, 0
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// list names up to most of the items, and how many more there are.
func list(items []string, most int) string {
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

// blankAlarm is what is said when a validation gave no output at all.
func (t *trainer) blankAlarm(e *Evaluation) []string {
	if e.Score.EmptyHyps < e.Score.Utterances || e.Score.Utterances == 0 || e.deaf() || t.optimizer.Updates < t.cfg.Run.BlankAlarm {
		return nil
	}
	unknown := ""
	if u := t.train.Report.Unknown; u.Share() > 0.01 {
		unknown = fmt.Sprintf(" (%.0f %% of the letters are)", 100*u.Share())
	}
	return []string{fmt.Sprintf("ALARM: after %s the output is empty for all %d validation utterances; %.1f %% of the frames are blank. "+
		"Likely causes: a learning rate that is too high or a warmup that is too short (learning_rate %g, warmup_updates %d); "+
		"too little data (%s, %.1f minutes) or too few updates; texts that don't belong to the sound; "+
		"letters outside the vocabulary%s; a subsampling of %d that leaves too few frames",
		count(t.optimizer.Updates, "update"), e.Score.Utterances, 100*e.BlankShare, t.cfg.Optimizer.LearningRate, t.cfg.Optimizer.WarmupUpdates,
		count(len(t.train.Utterances), "utterance"), t.train.Seconds()/60, unknown, t.cfg.Model.Subsampling)}
}

// ErrInterrupted says that the run was stopped from outside, after it had saved its state.
var ErrInterrupted = errors.New("interrupted: the state is saved; go on with --resume auto")

// count is a number with its noun: "1 worker", "2 workers".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
