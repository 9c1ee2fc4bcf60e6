package recognize

import (
	"context"
	"sync"
)

// gate bounds the sound that is in hand, read and not recognized yet, in samples. Whoever reads waits at it, but for
// the recording whose next piece the rest waits for: that may bring a piece in any case, so that all goes on.
type gate struct {
	limit int

	mu      sync.Mutex
	changed *sync.Cond
	held    int
	most    int   // held has been
	wanted  *flow // nil: nobody waits
	closed  bool
}

// newGate is a gate that closes with the context.
func newGate(ctx context.Context, limit int) *gate {
	g := &gate{limit: limit}
	g.changed = sync.NewCond(&g.mu)
	context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.closed = true
		g.changed.Broadcast()
	})
	return g
}

// enter waits until there is room for so many samples of a recording. It says whether the gate is open still.
func (g *gate) enter(f *flow, samples int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.closed && g.held+samples > g.limit && g.wanted != f {
		g.changed.Wait()
	}
	if g.wanted == f {
		g.wanted = nil
	}
	g.held += samples
	g.most = max(g.most, g.held)
	return !g.closed
}

// want has the next piece of a recording come in.
func (g *gate) want(f *flow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted = f
	g.changed.Broadcast()
}

// seconds is how much sound is in hand, at a rate.
func (g *gate) seconds(rate int) float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(g.held) / float64(rate)
}

// leave gives back what samples took.
func (g *gate) leave(samples int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held -= samples
	g.changed.Broadcast()
}
