package optest

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Rig is a graph under test: a result, and its gradients at the float inputs while a given gradient flows into it.
type Rig struct {
	Graph *op.Graph
	In    []*G.Node
	Out   *G.Node
	Grads G.Nodes // at the inputs Wrt
	Wrt   G.Nodes
	// Feeds are the values of the inputs.
	Feeds map[*G.Node]op.Array
	// Flow is the gradient that flows into Out; of a scalar it is 1.
	Flow op.Array
}

// NewRig builds the graph on inputs "in.0", "in.1", ... with the values in. flow nil is a random one; noGradient lists
// inputs without a gradient beside those of integers.
func NewRig(build Build, in []op.Array, flow *op.Array, noGradient ...int) (*Rig, error) {
	r, err := newForward(build, in)
	if err != nil {
		return nil, err
	}
	return r, r.backward(flow, noGradient)
}

// newForward is a rig without gradients yet.
func newForward(build Build, in []op.Array) (*Rig, error) {
	r := &Rig{Graph: op.NewGraph(), Feeds: map[*G.Node]op.Array{}}
	for i, a := range in {
		var n *G.Node
		if a.Ints != nil {
			n = r.Graph.IntInput(fmt.Sprintf("in.%d", i), a.Shape...)
		} else {
			n = r.Graph.Input(fmt.Sprintf("in.%d", i), a.Shape...)
		}
		r.In = append(r.In, n)
		r.Feeds[n] = a
	}
	r.Out = build(r.Graph, r.In)
	return r, r.Graph.Err()
}

// backward adds the gradients.
func (r *Rig) backward(flow *op.Array, noGradient []int) error {
	for i, n := range r.In {
		if r.Feeds[n].Ints == nil && !slices.Contains(noGradient, i) {
			r.Wrt = append(r.Wrt, n)
		}
	}
	if r.Out.Shape().Dims() == 0 {
		r.Flow = op.Array{Data: []float64{1}}
		r.Grads = r.Graph.Grad(r.Out, r.Wrt...)
		return r.Graph.Err()
	}
	if flow == nil {
		random := Floats(Rand(99), r.Out.Shape()...)
		flow = &random
	}
	r.Flow = *flow
	n := r.Graph.Input("flow", r.Out.Shape()...)
	if err := r.Graph.Err(); err != nil {
		return err
	}
	r.Feeds[n] = r.Flow
	var err error
	r.Grads, err = G.Backpropagate(G.Nodes{r.Out}, G.Nodes{n}, r.Wrt)
	return err
}

// Results are the nodes to compare: the result and its gradients.
func (r *Rig) Results() G.Nodes { return append(G.Nodes{r.Out}, r.Grads...) }

// ops lists the nodes that have an op of ours.
func (r *Rig) ops() (nodes G.Nodes) {
	for _, n := range r.Graph.AllNodes() {
		if _, ok := n.Op().(*op.Op); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Reference computes nodes by the specifications.
func (r *Rig) Reference(nodes ...*G.Node) ([]op.Array, error) { return Reference(r.Feeds, nodes...) }

// Run computes nodes with the kernels of a machine, each result in fresh memory full of NaN, so that an element that a
// kernel doesn't write is seen.
func (r *Rig) Run(m Machine, nodes ...*G.Node) ([]op.Tensor, error) {
	done := map[*G.Node]op.Tensor{}
	var eval func(n *G.Node) (op.Tensor, error)
	eval = func(n *G.Node) (op.Tensor, error) {
		if v, ok := done[n]; ok {
			return v, nil
		}
		if a, ok := r.Feeds[n]; ok {
			done[n] = NewTensor(op.Type{Shape: a.Shape, Of: elements(a)}, a)
			return done[n], nil
		}
		var in []op.Tensor
		for _, c := range op.Children(n) {
			v, err := eval(c)
			if err != nil {
				return v, err
			}
			in = append(in, v)
		}
		out, err := r.runNode(m, n, in)
		done[n] = out
		return out, err
	}
	out := make([]op.Tensor, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = eval(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Rig) runNode(m Machine, n *G.Node, in []op.Tensor) (op.Tensor, error) {
	o, ours := n.Op().(*op.Op)
	switch {
	case ours:
	case op.IsSum(n.Op()):
		o = op.NewSum(n.Shape())
	case len(in) == 0 && n.Value() != nil: // the constant 1 that seeds Grad
		return op.FromValue(n.Value())
	default:
		return op.Tensor{}, fmt.Errorf("%v is a %T, which is no op of ours", n.Op(), n.Op())
	}
	kernels, err := m.Kernels(o)
	if err != nil {
		return op.Tensor{}, err
	}
	k := kernels[0]
	out, _, err := k.run(plain(k.operands(in)))
	return out, err
}
