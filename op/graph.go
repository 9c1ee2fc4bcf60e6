package op

import (
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/graph"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Graph is a Gorgonia graph under construction. Its methods add ops and return their nodes. The first
// mistake (shapes that don't fit, a name used twice, a hash collision) is kept, later calls do nothing and
// return nil, and [Graph.Err] tells it: a network can be written down without a check on each line.
//
// Asked for a node whose 32-bit hash is taken, Gorgonia hands out the one that has it, whatever that computes.
// [Graph.Input] and apply, through which all our nodes are made, look at what they got and fail on another's.
type Graph struct {
	*G.ExprGraph
	err          error
	place, block string // of the ops that follow
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

// At says where in the network the ops that follow stand (Op.Place).
func (g *Graph) At(place string) { g.place = place }

// In says to which block of the network the ops that follow belong (Op.Block), "" for none.
func (g *Graph) In(block string) { g.block = block }

// Input adds a named float32 input or parameter.
func (g *Graph) Input(name string, shape ...int) *G.Node { return g.leaf(name, tensor.Float32, shape) }

// IntInput adds a named int32 input: lengths, tokens, random seeds.
func (g *Graph) IntInput(name string, shape ...int) *G.Node {
	return g.leaf(name, tensor.Int32, shape)
}

func (g *Graph) leaf(name string, of tensor.Dtype, shape tensor.Shape) *G.Node {
	if g.err != nil {
		return nil
	}
	if name == "" {
		g.Fail(fmt.Errorf("graph input of shape %v: give it a name, since Gorgonia tells inputs of one shape apart by nothing else", shape))
		return nil
	}
	others := g.AllNodes()
	for _, other := range others {
		if other.Op() == nil && other.Name() == name {
			g.Fail(fmt.Errorf("graph input %q is there already, of shape %v: choose another name", name, other.Shape()))
			return nil
		}
	}
	n := G.NewTensor(g.ExprGraph, of, len(shape), G.WithShape(shape...), G.WithName(name))
	if slices.Contains(others, n) {
		g.Fail(fmt.Errorf("graph input %q is input %q to Gorgonia: their hashes are equal; choose another name", name, n.Name()))
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
	in := typesOf(children)
	o, err := make(in)
	if err != nil {
		g.Fail(err)
		return nil
	}
	o.In, o.Place, o.Block = in, g.place, g.block
	n, err := apply(o, children...)
	if err != nil {
		g.Fail(err)
	}
	return n
}

func typesOf(nodes G.Nodes) []Type {
	types := make([]Type, len(nodes))
	for i, n := range nodes {
		types[i].Shape = n.Shape()
		if n.Dtype() == tensor.Int32 {
			types[i].Of = Int32
		}
	}
	return types
}

// apply is o applied to operands: a new node, or the one there is of the same op and the same operands. It fails
// where Gorgonia, going by hashes, returns any other.
func apply(o *Op, operands ...*G.Node) (*G.Node, error) {
	n, err := G.ApplyOp(o, operands...)
	if err != nil {
		return nil, fmt.Errorf("adding %v to the graph: %w", o, err)
	}
	if made, ok := n.Op().(*Op); !ok || made.String() != o.String() || !slices.Equal(Children(n), operands) {
		return nil, fmt.Errorf("hash collision: for %v of %v Gorgonia returned node %d, %v of %v", o, G.Nodes(operands), n.ID(), n.Op(), Children(n))
	}
	return n, nil
}

// hashSeed has Gorgonia hash the node of the constant 1 from which every gradient starts. All graphs share that node,
// and the first gradient keeps the hash in it: graphs that are built side by side would write it at the same time.
var hashSeed = sync.OnceValue(func() error {
	x := G.NewScalar(G.NewGraph(), tensor.Float32, G.WithName("x"))
	y, err := G.Square(x)
	if err == nil {
		_, err = G.Grad(y, x)
	}
	return err
})

// Grad builds the gradient of the scalar loss at each of wrt. Graphs may be built side by side.
func (g *Graph) Grad(loss *G.Node, wrt ...*G.Node) G.Nodes {
	if g.err != nil {
		return nil
	}
	if err := hashSeed(); err != nil {
		g.Fail(err)
		return nil
	}
	grads, err := G.Grad(loss, wrt...)
	if err != nil {
		g.Fail(err)
		return nil
	}
	return grads
}

// Children lists what n is computed from, an operand used twice also twice: Gorgonia keeps the order of its edges.
func Children(n *G.Node) (operands G.Nodes) {
	for _, operand := range graph.NodesOf(n.Graph().From(n.ID())) {
		operands = append(operands, operand.(*G.Node))
	}
	return operands
}

// IsSum says whether o is Gorgonia's own "+", by which Grad adds up the gradients of a node with several
// readers. It is the only op of Gorgonia's, beside the constant 1 that seeds Grad, in our graphs.
func IsSum(o G.Op) bool { return fmt.Sprintf("%T %v", o, o) == "gorgonia.elemBinOp + false" }
