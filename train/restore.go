package train

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/op"
)

// restore sets weights, moments and counters: from a checkpoint, from a model to start from, or anew.
func (t *trainer) restore(from *checkpoint.Checkpoint) error {
	settings, err := t.cfg.settings()
	if err != nil {
		return err
	}
	t.state.Format, t.state.Config, t.state.Vocabulary = stateFormat, settings, t.vocab
	if from == nil {
		t.state.Due = []int{}
	}
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
		if name, i, v := t.oddWeight(); name != "" {
			return fmt.Errorf("init_from: %s has %g in %s[%d]: a network with such weights can't be trained", t.cfg.Run.InitFrom, v, name, i)
		}
		t.state.LossScale = NewLossScale()
		t.report.say("weights from %s", t.cfg.Run.InitFrom)
	default:
		t.initialise(t.cfg.Run.Seed)
		t.state.LossScale = NewLossScale()
	}
	t.begun = t.optimizer.Updates
	return nil
}

// resumed takes up the counters of a checkpoint and says where the run stands.
func (t *trainer) resumed(from *checkpoint.Checkpoint) {
	p := &t.state.Progress
	t.optimizer.Updates = p.Updates
	t.last, t.earlier = from.Path, p.Seconds
	t.saved = t.inside(from.Path)
	if window := t.cfg.Window(); p.WindowSize != window {
		used := p.Window * p.WindowSize
		p.Window = used / window
		t.report.say("WARNING: a window has %s now, %d when the checkpoint was written: epoch %d goes on at window %d, "+
			"some of its utterances come twice or not at all", count(window, "utterance"), p.WindowSize, p.Epoch+1, p.Window+1)
	}
	if size, hash := setIdentity(t.train); p.SetHash != "" && p.SetHash != hash {
		t.report.say("WARNING: the training set is not what it was when the checkpoint was written: %s now, %d then, or others, or of "+
			"other lengths; they come in another order, so some of those of epoch %d come twice or not at all", count(size, "utterance"), p.SetSize, p.Epoch+1)
	}
	if n := len(t.crew.Workers); n != p.Workers {
		t.report.say("NOTE: %s now, %d when the checkpoint was written: sums are in another order, so the run is not bit for bit the uninterrupted one", count(n, "compute worker"), p.Workers)
	}
	if k := op.Kernels(); p.Kernels != "" && k != p.Kernels {
		t.report.say("NOTE: this run computes with the kernels %s, the checkpoint comes from one with %s: they round differently, so the run is not bit for bit the uninterrupted one", k, p.Kernels)
	}
	if p.Window >= t.loader.Windows() {
		p.Epoch, p.Window = p.Epoch+1, 0
	}
	why := t.goOn()
	if t.state.Best != nil {
		t.best = filepath.Join(filepath.Dir(from.Path), checkpoint.Name(t.state.BestStep))
	}
	if why != "" {
		t.told = true
		t.report.say("resumed from %s: %s done, and training is finished: %s", from.Path, count(p.Updates, "update"), why)
		return
	}
	t.report.say("resumed from %s: %s done, epoch %d, window %d of %d", from.Path, count(p.Updates, "update"), p.Epoch+1, p.Window+1, t.loader.Windows())
}

// goOn forgets a validation that only the end of an earlier session brought about, unless training has ended still;
// it returns why, or "".
func (t *trainer) goOn() string {
	if t.state.Before == nil {
		return t.end()
	}
	last := t.state.judgement
	t.state.judgement = *t.state.Before
	why := t.end()
	if why == "" {
		t.state.Before = nil
	} else {
		t.state.judgement = last
	}
	return why
}

// setIdentity is what the order of a training set depends on: the number of its utterances, and a hash of their ids
// and lengths in frames.
func setIdentity(s *data.Set) (size int, hash string) {
	sum := fnv.New128a()
	for _, u := range s.Utterances {
		fmt.Fprintf(sum, "%q %d\n", u.ID, u.Frames)
	}
	return len(s.Utterances), hex.EncodeToString(sum.Sum(nil))
}
