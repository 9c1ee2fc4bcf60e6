package optest

import (
	"slices"
	"testing"

	"konkanitrain/op"
)

// Case is one thing to check: an op of a graph on given operands, an op that is made outside of graphs, or an op on a
// batch of utterances.
type Case struct {
	// Name is the op's name, a slash and what is special here ("glu/more frames than there are").
	Name string

	// Build adds the op to a graph, on inputs that have the values In, or those of Batch.
	Build Build
	// Make makes an op outside of graphs; its operands have the values In.
	Make func() *op.Op
	In   []op.Array
	// NoGradient lists the inputs of Build without a gradient, beside those of integers.
	NoGradient []int
	// Tol bounds |kernel - Ref| relative to the largest value of the result, Why is its reason. 0 is equality.
	Tol float64
	Why string
	// HalfTol takes Tol's place on a card in half precision, beside the rounding of the result: operands are rounded to
	// float16 before they are compared, and sums are in float32, so that only an op that rounds in between needs it.
	HalfTol float64
	HalfWhy string
	// Size is what Tol is relative to where that is not each result's largest value.
	Size float64

	// Batch is set instead of In to check that utterances don't depend on each other.
	Batch *Batch
}

// Cases lists all cases. Every op has at least one that compares its kernels with Ref.
func Cases() []Case {
	return slices.Concat(
		linearCases(), elementCases(), dropoutCases(), normCases(), convolutionCases(), attentionCases(),
		embedCases(), stepCases(), lossCases(), engineCases(), optimizerCases(), networkCases(),
	)
}

// Run checks c on a machine, in a subtest of its name.
func Run(t *testing.T, m Machine, c Case) {
	t.Run(c.Name, func(t *testing.T) {
		if err := Check(m, c); err != nil {
			t.Error(err)
		}
	})
}

// Check makes every check that c is made for and returns what it finds.
func Check(m Machine, c Case) error {
	switch {
	case c.Make != nil:
		return checkMade(m, c)
	case c.Batch != nil:
		return checkBatch(m, c)
	}
	return checkGraph(m, c)
}

// Ops names the ops whose kernels c compares with Ref: the one it is about and those of its gradient.
func (c Case) Ops() ([]string, error) {
	if c.Batch != nil {
		return nil, nil
	}
	ops, err := c.Instances()
	var names []string
	for _, o := range ops {
		names = append(names, o.Name)
	}
	return names, err
}

// Instances are the ops of c with their shapes, in a batch those of all its utterances together.
func (c Case) Instances() ([]*op.Op, error) {
	if c.Make != nil {
		return []*op.Op{c.Make()}, nil
	}
	in := c.In
	if c.Batch != nil {
		order := make([]int, c.Batch.size())
		for u := range order {
			order[u] = u
		}
		in, _ = arrange(c.Batch.In, order, c.Batch.Extra)
	}
	r, err := NewRig(c.Build, in, nil, c.NoGradient...)
	if err != nil {
		return nil, err
	}
	var ops []*op.Op
	for _, n := range r.ops() {
		ops = append(ops, n.Op().(*op.Op))
	}
	return ops, nil
}

// Covered holds the names of all ops that a case compares with Ref. A case whose graph can't be built covers nothing,
// and fails in Check.
func Covered() map[string]bool {
	names := map[string]bool{}
	for _, c := range Cases() {
		ops, err := c.Ops()
		if err != nil {
			continue
		}
		for _, name := range ops {
			names[name] = true
		}
	}
	return names
}
