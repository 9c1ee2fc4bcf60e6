package engine

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Spec says what a graph is compiled for.
type Spec struct {
	// Target is what the program will run on; "" is op.CPU.
	Target op.Target
	// Weights are the parameters; their memory comes from the caller's flat buffer.
	Weights []*G.Node
	// Grads are gradients, or nil for a graph without a backward pass.
	Grads []*G.Node
	// Learned are those of Weights that Grads belong to, in the same order; nil: all of Weights.
	Learned []*G.Node
	// Shared are leaves whose memory all machines share (tables); every other leaf is an input in the arena.
	Shared []*G.Node
	// Outputs are the nodes that stay readable after a run, by name.
	Outputs map[string]*G.Node
	// Loss is where the forward pass ends: what is younger belongs to the backward pass. Nil without one.
	Loss *G.Node
	// Half stores what the backward pass needs from the forward pass as float16 in between. On a card activations are
	// float16 throughout.
	Half bool
	// Losses names the outputs that have to be finite for an update to be made.
	Losses []string
	// Late names the inputs that are known last: what a card may not be sent ahead of the run.
	Late []string
	// Recompute says which values are dropped after the forward pass and computed again for the backward pass.
	Recompute Recompute
}

// Recompute is a choice between memory and time. It never changes a result.
type Recompute uint8

// The values of Recompute.
const (
	RecomputeNone   Recompute = iota // every value that the backward pass reads stays
	RecomputeBlocks                  // of a block of the network (op.Op.Block) only what later blocks read stays
	RecomputeAll                     // the same, and what comes before the first block counts as one
)

// String is "none", "blocks" or "all".
func (r Recompute) String() string {
	switch r {
	case RecomputeNone:
		return "none"
	case RecomputeBlocks:
		return "blocks"
	}
	return "all"
}

// rewrites are the passes between lowering and memory, in their order. Each changes the list of steps; what the
// outputs and gradients are stays the same to the bit, but for the rounding of half and precision.
var rewrites = []func(*code) error{fuseSums, flatGradients, half, recompute, deadCode}

// cardRewrites are those for a card.
var cardRewrites = []func(*code) error{fuseSums, flatGradients, packs, precision, recompute, deadCode, settle}

// Compile makes a program of what spec asks for, and of nothing else: Grad also builds gradients that nobody
// needs. It is a pure function of the graph and the spec.
func Compile(spec Spec) (*Program, error) {
	if spec.Target == op.CUDA {
		return compile(spec, cardRewrites)
	}
	return compile(spec, rewrites)
}

func compile(spec Spec, rewrites []func(*code) error) (*Program, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	c, err := lower(spec)
	if err != nil {
		return nil, err
	}
	for _, rewrite := range rewrites {
		if err := rewrite(c); err != nil {
			return nil, err
		}
	}
	if err := c.checkTypes(); err != nil {
		return nil, err
	}
	m := c.coalesce(c.liveness())
	return c.program(m), nil
}

// check refuses a spec that contradicts itself.
func (s *Spec) check() error {
	if s.Learned == nil {
		s.Learned = s.Weights
	}
	if s.Grads != nil && (len(s.Grads) != len(s.Learned) || s.Loss == nil) {
		return fmt.Errorf("compile: %d gradients for %d weights, loss %v: want one for each, and a loss", len(s.Grads), len(s.Learned), s.Loss)
	}
	for i, n := range s.Grads {
		if n == nil {
			return fmt.Errorf("compile: weight %s has no gradient: nothing of the loss depends on it", s.Learned[i].Name())
		}
	}
	for name, n := range s.Outputs {
		if n == nil {
			return fmt.Errorf("compile: output %s has no node", name)
		}
	}
	if s.Target == "" {
		s.Target = op.CPU
	}
	return nil
}
