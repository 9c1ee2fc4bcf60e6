package train

import (
	"fmt"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/model"
)

// restore sets weights, moments and counters: from a checkpoint, from a model to start from, or anew.
func (t *trainer) restore(from *checkpoint.Checkpoint) error {
	settings, err := t.cfg.settings()
	if err != nil {
		return err
	}
	t.state.Format, t.state.Config, t.state.Vocabulary = stateFormat, settings, t.vocab
	weights := t.tensors("", t.weights.Floats())
	switch {
	case from != nil:
		if err := from.LoadModel(weights); err != nil {
			return err
		}
		m, v := t.optimizer.moments[0].Floats(), t.optimizer.moments[1].Floats()
		if err := from.LoadOptimizer(append(t.tensors("m.", m), t.tensors("v.", v)...)); err != nil {
			return err
		}
		t.resumed(from)
	case t.cfg.Run.InitFrom != "":
		if err := checkpoint.LoadWeights(t.cfg.Run.InitFrom, weights); err != nil {
			return fmt.Errorf("init_from: %w", err)
		}
		t.state.LossScale = NewLossScale()
		t.report.say("weights from %s", t.cfg.Run.InitFrom)
	default:
		t.initialise(t.cfg.Run.Seed)
		t.state.LossScale = NewLossScale()
	}
	return t.metrics.write("start", map[string]any{
		"update": t.optimizer.Updates, "parameters": t.state.Parameters, "workers": len(t.crew.Workers), "config": settings,
	})
}

// resumed takes up the counters of a checkpoint and says where the run stands.
func (t *trainer) resumed(from *checkpoint.Checkpoint) {
	p := &t.state.Progress
	t.optimizer.Updates = p.Updates
	t.last, t.saved, t.earlier = from.Path, p.Updates, p.Seconds
	if t.state.Best != nil {
		t.best = filepath.Join(t.cfg.Run.CheckpointDir, fmt.Sprintf("step-%08d", t.state.BestStep))
	}
	if window := t.cfg.Window(); p.WindowSize != window {
		used := p.Window * p.WindowSize
		p.Window = used / window
		t.report.say("WARNING: a window has %d utterances now, %d when the checkpoint was written: epoch %d goes on at window %d, "+
			"some of its utterances come twice or not at all", window, p.WindowSize, p.Epoch+1, p.Window+1)
	}
	if n := len(t.crew.Workers); n != p.Workers {
		t.report.say("NOTE: %d compute workers now, %d when the checkpoint was written: sums are in another order, so the run is not bit for bit the uninterrupted one", n, p.Workers)
	}
	if p.Window >= t.loader.Windows() {
		p.Epoch, p.Window = p.Epoch+1, 0
	}
	t.report.say("resumed from %s: %d updates done, epoch %d, window %d of %d", from.Path, p.Updates, p.Epoch+1, p.Window+1, t.loader.Windows())
}

// plan compiles the shape that the longest utterance needs, reserves the arenas for it, and says what the run
// takes in memory. A set's longest utterance is the worst: batches are cut to about the same number of frames.
func (t *trainer) plan() error {
	var longest model.Shape
	for _, u := range t.train.Utterances {
		n, err := t.loader.MostFrames(u)
		if err != nil {
			return err
		}
		longest.Frames, longest.Tokens = max(longest.Frames, n), max(longest.Tokens, len(u.Tokens))
	}
	shape := bucket(1, longest.Frames, max(1, longest.Tokens), t.net)
	p, err := t.programs.Get(programKey{shape, true})
	if err != nil {
		return err
	}
	if err := t.crew.Reserve(p.ArenaBytes()); err != nil {
		return err
	}
	t.report.say("memory: %s in all: weights, gradients and moments %s, %d workers with %s each for up to %.1f s of sound",
		megabytes(t.dev.Usage().Allocated), megabytes(int64(4*t.layout.Words*(3+len(t.crew.Workers)))),
		len(t.crew.Workers), megabytes(int64(p.ArenaBytes())), float64(longest.Frames)/100)
	return nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
