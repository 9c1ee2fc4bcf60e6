package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"konkanitrain/checkpoint"
	"konkanitrain/op"
)

// save writes a checkpoint of the present state, unless it is on disk already, and removes old ones. due says that
// save_every asks for it.
func (t *trainer) save(due bool) error {
	if last := len(t.state.Due) - 1; due && (last < 0 || t.state.Due[last] != t.optimizer.Updates) {
		t.noteDue()
		t.saved = false
	}
	if t.saved {
		return nil
	}
	if err := t.finite(); err != nil {
		return err
	}
	p := &t.state.Progress
	p.Updates, p.WindowSize, p.Workers, p.Kernels = t.optimizer.Updates, t.cfg.Window(), len(t.crew.Workers), op.Kernels()
	p.SetSize, p.SetHash = setIdentity(t.train)
	p.Seconds = t.earlier + time.Since(t.started).Seconds()
	m, v := t.optimizer.moments[0].Floats(), t.optimizer.moments[1].Floats()
	moments := append(t.tensors("m.", m), t.tensors("v.", v)...)
	path, err := t.write(t.cfg.Run.CheckpointDir, moments, &t.state)
	if err != nil {
		return t.withAdvice(err)
	}
	again := path == t.last // with a validation that came after the first save
	t.last, t.saved = path, true
	if t.state.BestStep == t.optimizer.Updates && t.state.Best != nil {
		t.best = path
	}
	t.prune()
	if again {
		return nil
	}
	t.report.say("saved %s", path)
	t.record("save", map[string]any{"update": t.optimizer.Updates, "path": path})
	return nil
}

// write makes a checkpoint of the weights in memory in dir. What is in its place and is none is moved, with a word.
func (t *trainer) write(dir string, moments []checkpoint.Tensor, state any) (path string, err error) {
	moved, err := checkpoint.SetAside(dir, t.optimizer.Updates)
	if err != nil {
		return "", fmt.Errorf("update %d is not saved in %s: %w", t.optimizer.Updates, dir, err)
	}
	if moved != "" {
		t.report.say("WARNING: what had the name of this checkpoint and was none is called %s now", moved)
	}
	return checkpoint.Save(dir, t.optimizer.Updates, t.tensors("", t.weights.Floats()), moments, state)
}

// withAdvice says how a run on a full disk can go on.
func (t *trainer) withAdvice(err error) error {
	var full *checkpoint.NoSpaceError
	entries, _ := checkpoint.List(t.cfg.Run.CheckpointDir)
	if !errors.As(err, &full) || len(entries) < 2 || t.cfg.Run.KeepLast < 2 && t.cfg.Run.AverageLast < 2 {
		return err
	}
	flags := "--keep_last 1"
	if t.cfg.Run.AverageLast > 1 {
		flags += " --average_last 0"
	}
	return fmt.Errorf("%w; --resume auto %s begins with removing all checkpoints but the newest and the best", err, flags)
}

// prune removes old checkpoints and names them. What the average is made of stays, and what was best before a last
// validation that wasn't due: a resumed run goes by it. That one can't be removed is no reason to stop.
func (t *trainer) prune() (removed []string) {
	keep := []string{filepath.Base(t.best)}
	for _, update := range t.averagedUpdates(t.cfg.Run.AverageLast) {
		keep = append(keep, checkpoint.Name(update))
	}
	if b := t.state.Before; b != nil && b.Best != nil {
		keep = append(keep, checkpoint.Name(b.BestStep))
	}
	removed, err := checkpoint.Prune(t.cfg.Run.CheckpointDir, t.cfg.Run.KeepLast, keep...)
	if err != nil {
		t.report.say("WARNING: removing old checkpoints: %v", err)
	}
	return removed
}

// finish validates and saves what the last update made, and scores the test set with the averaged weights or the best.
func (t *trainer) finish(ctx context.Context) error {
	defer t.report.close()
	if t.profiling() {
		return t.printProfile()
	}
	if !t.told {
		t.report.say("training has ended: %s", t.end())
	}
	if t.val != nil && t.state.Judged != t.optimizer.Updates {
		before := t.state.judgement
		if err := t.validate(ctx); err != nil {
			if ctx.Err() != nil {
				return t.interrupted()
			}
			return err
		}
		t.state.Before = &before
	}
	if err := t.save(false); err != nil {
		return err
	}
	which := "newest weights"
	switch n := t.cfg.Run.AverageLast; {
	case n > 0:
		if _, err := checkpoint.Open(t.best); err == nil {
			t.report.say("best checkpoint: %s", t.best)
		}
		if err := t.average(ctx, n); err != nil {
			return err
		}
		which = "averaged weights"
	default:
		if err := t.dropAverage(); err != nil {
			return err
		}
		if err := t.loadBest(); err != nil {
			return err
		}
		if t.best != "" {
			which = "best weights"
		}
	}
	if t.test == nil {
		return nil
	}
	e, err := t.evaluate(ctx, t.test, t.cfg.Optimizer.BatchSize, nil)
	t.warn(t.test)
	if err != nil {
		if ctx.Err() != nil {
			return ErrInterrupted // all is saved but the test set's score
		}
		return err
	}
	t.tested = e
	t.report.say("test set %s, %s: %v", t.cfg.Data.TestManifest, which, e)
	for _, trouble := range e.troubles(t.cfg.Data.TestManifest) {
		t.report.say("%s", trouble)
	}
	t.record("test", struct {
		Weights string `json:"weights"`
		*Evaluation
	}{which, e})
	return nil
}

// loadBest names the best checkpoint and takes its weights. One that can't be used is said, and the newest weights stay.
func (t *trainer) loadBest() error {
	if t.best == "" {
		return nil
	}
	weights := t.tensors("", t.weights.Floats())
	if t.best != t.last {
		c, err := checkpoint.Open(t.best)
		if err == nil {
			err = c.LoadModel(weights)
		}
		if err != nil {
			t.report.say("WARNING: the best checkpoint can't be used, taking the newest, %s: %v", t.last, err)
			t.best = ""
			if c, err = checkpoint.Open(t.last); err != nil {
				return err
			}
			return c.LoadModel(weights) // a file that can't be read to its end may have changed some of them
		}
	}
	t.report.say("best checkpoint: %s", t.best)
	return nil
}

func (t *trainer) close() {
	t.report.close()
	if t.metrics != nil {
		_ = t.metrics.close() // each line was written when it was due
	}
	t.optimizer.Close()
	t.core.close()
}
