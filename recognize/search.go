package recognize

import (
	"context"
	"sync"
	"sync/atomic"

	"konkanitrain/update"
)

// search has readers make texts of what the network said of utterances, each reader of one at a time, side by side. The
// decoder's steps that they ask for are made together.
func (r *Recognizer) search(ctx context.Context, readers []*reader, all []*listened, texts []heard) error {
	c := &conductor{run: r.runner.Steps, active: len(readers)}
	var next atomic.Int64
	var wait sync.WaitGroup
	for _, reader := range readers {
		wait.Go(func() {
			defer c.leave()
			step := func(s *update.Step) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return c.step(s)
			}
			for i := int(next.Add(1) - 1); i < len(all) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				if all[i] != nil {
					texts[i] = reader.search(all[i], step)
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if OutOfMemory(c.err) { // each text has it, and with other utterances there may be room
		return nil
	}
	return c.err
}

// conductor makes the steps of several searches together: it waits until every search that goes on has asked for one,
// so that there is work for all workers. What comes out of a step doesn't depend on those beside it.
type conductor struct {
	run func([]update.Step) error

	mu      sync.Mutex
	active  int // searches that go on
	pending []update.Step
	waiting []chan error
	err     error // of the first run that failed
}

// step makes a step with those of the other searches.
func (c *conductor) step(s *update.Step) error {
	done := make(chan error, 1)
	c.mu.Lock()
	c.pending, c.waiting = append(c.pending, *s), append(c.waiting, done)
	c.makeSteps()
	c.mu.Unlock()
	return <-done
}

// leave ends a search.
func (c *conductor) leave() {
	c.mu.Lock()
	c.active--
	c.makeSteps()
	c.mu.Unlock()
}

// makeSteps makes the steps that were asked for, if nobody else may ask for one. c.mu is held.
func (c *conductor) makeSteps() {
	if len(c.pending) == 0 || len(c.pending) < c.active {
		return
	}
	if c.err == nil {
		c.err = c.run(c.pending)
	}
	for _, done := range c.waiting {
		done <- c.err
	}
	c.pending, c.waiting = c.pending[:0], c.waiting[:0]
}
