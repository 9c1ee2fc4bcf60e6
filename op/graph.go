package op

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Graph is a Gorgonia graph under construction. Its methods add ops and return their nodes. The first
// mistake (shapes that don't fit, a name used twice, a hash collision) is kept, later calls do nothing and
// return nil, and [Graph.Err] tells it: a network can be written down without a check on each line.
//
// Gorgonia finds "equal" nodes by a 32-bit hash and returns the old node for the new one, silently. All
// our nodes pass through [Graph.Input] and [Apply], which fail where it has merged what must stay apart.
type Graph struct {
	*G.ExprGraph
	err error
}

// NewGraph is an empty graph.
func NewGraph() *Graph { return &Graph{ExprGraph: G.NewGraph()} }

// Err is the first mistake made in building the graph, or nil.
func (g *Graph) Err() error { return g.err }

// Fail records err as the graph's mistake, if it is the first one.
func (g *Graph) Fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// Input adds a named float32 input or parameter.
func (g *Graph) Input(name string, shape ...int) *G.Node { return g.leaf(name, tensor.Float32, shape) }

// IntInput adds a named int32 input: lengths, tokens, random keys.
func (g *Graph) IntInput(name string, shape ...int) *G.Node {
	return g.leaf(name, tensor.Int32, shape)
}

func (g *Graph) leaf(name string, of tensor.Dtype, shape tensor.Shape) *G.Node {
	if g.err != nil {
		return nil
	}
	if name == "" {
		g.Fail(fmt.Errorf("an input of shape %v has no name: unnamed inputs of one shape become one node", shape))
		return nil
	}
	before := len(g.AllNodes())
	n := G.NewTensor(g.ExprGraph, of, len(shape), G.WithShape(shape...), G.WithName(name))
	if len(g.AllNodes()) == before {
		g.Fail(fmt.Errorf("input %s: Gorgonia returned the existing node %q: use another name", name, n.Name()))
		return nil
	}
	return n
}

// add applies the op that make returns for the children's types. Children must be of this graph.
func (g *Graph) add(make func(in []Type) (*Op, error), children ...*G.Node) *G.Node {
	if g.err != nil {
		return nil
	}
	for i, c := range children {
		if c == nil {
			g.Fail(fmt.Errorf("input %d of an op is nil", i))
			return nil
		}
	}
	n, err := build(make, children...)
	if err != nil {
		g.Fail(err)
	}
	return n
}

// build is add for gradient code, which returns errors.
func build(make func(in []Type) (*Op, error), children ...*G.Node) (*G.Node, error) {
	in := typesOf(children)
	o, err := make(in)
	if err != nil {
		return nil, err
	}
	if o.In == nil {
		o.In = in
	}
	return Apply(o, children...)
}

func typesOf(nodes G.Nodes) []Type {
	types := make([]Type, len(nodes))
	for i, n := range nodes {
		types[i] = Type{Shape: n.Shape(), Int: n.Dtype() == tensor.Int32}
	}
	return types
}

// Apply is gorgonia.ApplyOp with a check that the node has the op and the children that were passed in.
func Apply(o *Op, children ...*G.Node) (*G.Node, error) {
	n, err := G.ApplyOp(o, children...)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", o, err)
	}
	if got, ok := n.Op().(*Op); !ok || got.String() != o.String() {
		return nil, fmt.Errorf("%v was merged with node %d, which is %v: their hashes collide", o, n.ID(), n.Op())
	}
	got := Children(n)
	for i, c := range children {
		if i >= len(got) || got[i] != c {
			return nil, fmt.Errorf("%v was merged with node %d, whose input %d is another node: their hashes collide", o, n.ID(), i)
		}
	}
	return n, nil
}

// Grad builds the gradient of the scalar loss at each of wrt.
func (g *Graph) Grad(loss *G.Node, wrt ...*G.Node) G.Nodes {
	if g.err != nil {
		return nil
	}
	grads, err := G.Grad(loss, wrt...)
	if err != nil {
		g.Fail(err)
		return nil
	}
	return grads
}

// UniqueHashes says whether Gorgonia's own machines may run the graph: they know nodes by their 32-bit hash, so two
// nodes with one hash are one to them. In a graph of 1600 nodes that happens once in some 3000 shapes. Our engine
// knows nodes by identity and doesn't care; wrong merges while a graph is built are caught by [Apply].
func (g *Graph) UniqueHashes() error {
	seen := map[uint32]*G.Node{}
	for _, n := range g.AllNodes() {
		if old := seen[n.Hashcode()]; old != nil {
			return fmt.Errorf("nodes %d (%v) and %d (%v) have one hash: a tape would take them for one", old.ID(), old, n.ID(), n)
		}
		seen[n.Hashcode()] = n
	}
	return nil
}

// Children are the operands in order, duplicates kept.
func Children(n *G.Node) G.Nodes {
	var c G.Nodes
	for it := n.Graph().From(n.ID()); it.Next(); {
		c = append(c, it.Node().(*G.Node))
	}
	return c
}

// IsSum says whether o is Gorgonia's own "+", by which Grad adds up the gradients of a node with several
// readers. It is the only op of Gorgonia's, beside the constant 1 that seeds Grad, in our graphs.
func IsSum(o G.Op) bool { return fmt.Sprintf("%T %v", o, o) == "gorgonia.elemBinOp + false" }

// want is an error for operands that don't fit, in the words of the op's shapes.
func want(name, shapes string, in []Type) error {
	got := make([]string, len(in))
	for i, t := range in {
		got[i] = shapeString(t.Shape)
		if t.Int {
			got[i] += " int"
		}
	}
	return errors.New(name + ": inputs are " + fmt.Sprint(got) + ", want " + shapes)
}

// last is the length of the last dimension.
func last(s tensor.Shape) int { return s[s.Dims()-1] }

// rows is the number of vectors along the last dimension.
func rows(s tensor.Shape) int { return Size(s) / last(s) }
