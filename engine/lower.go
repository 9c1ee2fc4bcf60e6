package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// lowering turns nodes into values and steps.
type lowering struct {
	*code
	values map[*G.Node]*value
	names  map[string]int // how many values have asked for a name
}

// lower writes down what spec asks for as steps on values, in the order of the graph. A graph that only grew numbers
// its nodes in an order in which they can be computed; Gorgonia's rewrites could break that, so it is checked.
func lower(spec Spec) (*code, error) {
	l := &lowering{code: &code{spec: spec, outputs: map[string]*value{}}, values: map[*G.Node]*value{}, names: map[string]int{}}
	for _, n := range needed(spec) {
		children := op.Children(n)
		for _, operand := range children {
			if byID(operand, n) >= 0 {
				return nil, fmt.Errorf("compile: node %d, %v, would run before node %d, its operand: the graph was rewritten",
					n.ID(), n.Op(), operand.ID())
			}
		}
		var err error
		if len(children) == 0 {
			err = l.leaf(n)
		} else {
			err = l.node(n, children)
		}
		if err != nil {
			return nil, err
		}
	}
	for name, n := range spec.Outputs {
		l.outputs[name] = l.values[n]
	}
	for _, n := range spec.Grads {
		l.grads = append(l.grads, l.values[n])
	}
	return l.code, nil
}

// needed lists the nodes that the spec's results are computed from, in the order of the graph.
func needed(spec Spec) []*G.Node {
	var list []*G.Node
	seen := map[*G.Node]bool{}
	need := func(nodes ...*G.Node) {
		for _, n := range nodes {
			if !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	need(spec.Grads...)
	for _, n := range spec.Outputs {
		need(n)
	}
	for i := 0; i < len(list); i++ { // the list grows while its operands are looked up
		need(op.Children(list[i])...)
	}
	slices.SortFunc(list, byID)
	return list
}

func byID(a, b *G.Node) int { return cmp.Compare(a.ID(), b.ID()) }

// leaf is a node that is given: a parameter, a table, an input, or the constant 1 that seeds Grad.
func (l *lowering) leaf(n *G.Node) error {
	v := &value{name: n.Name(), typ: typeOf(n)}
	switch {
	case slices.Contains(l.spec.Weights, n):
		v.space = Weight
	case slices.Contains(l.spec.Shared, n):
		v.space = Shared
	case n.Op() != nil || n.Value() != nil:
		if n.Shape().Dims() != 0 || fmt.Sprint(n.Value()) != "1" {
			return fmt.Errorf("compile: constant %v: only the 1 that seeds Grad is known", n)
		}
		v.space = One
	default:
		v.given = true
		l.inputs = append(l.inputs, v)
	}
	l.values[n] = v
	return nil
}

// node is a node that is computed: a step, or a part of its operand.
func (l *lowering) node(n *G.Node, children []*G.Node) error {
	in := make([]*value, len(children))
	for i, child := range children {
		in[i] = l.values[child]
	}
	o, err := opOf(n, in)
	if err != nil {
		return err
	}
	if o.View != nil {
		whole := in[0]
		l.values[n] = &value{
			name: fmt.Sprintf("%s@%d", whole.name, o.View.Offset), block: o.Block, typ: o.Out, space: whole.space,
			whole: whole, offset: int64(o.View.Offset) * whole.typ.Of.Bytes(), backward: whole.backward,
		}
		return nil
	}
	out := &value{block: o.Block, typ: o.Out, backward: l.backward(n)}
	out.name = l.name(o, out.backward)
	s, err := l.newStep(o, out, in...)
	if err != nil {
		return err
	}
	l.steps = append(l.steps, s)
	l.values[n] = out
	return nil
}

// backward says whether Grad made n. The loss need not be among the steps: Grad doesn't read its value, so it is
// dead code unless it is an output.
func (l *lowering) backward(n *G.Node) bool { return l.spec.Loss != nil && n.ID() > l.spec.Loss.ID() }

// name is the place in the network of what o computes. A gradient's has the op behind it, and so has a second value of
// one place.
func (l *lowering) name(o *op.Op, backward bool) string {
	name := strings.TrimSpace(o.Place + " " + o.Name)
	if o.Place != "" && !backward && l.names[o.Place] == 0 {
		name = o.Place
	}
	l.names[name]++
	if n := l.names[name]; n > 1 {
		name = fmt.Sprintf("%s #%d", name, n)
	}
	return name
}

// opOf is the op of a node; Gorgonia's own "+" is replaced by ours, at the place of its second term: Grad sums from
// left to right, so that this is the one that is added, by whose step fuseSums adds it.
func opOf(n *G.Node, in []*value) (*op.Op, error) {
	if o, ok := n.Op().(*op.Op); ok {
		return o, nil
	}
	if !op.IsSum(n.Op()) {
		return nil, fmt.Errorf("compile: %v is a %T, which has no kernel here: build the graph from package op only", n.Op(), n.Op())
	}
	o := op.NewSum(n.Shape())
	last := in[1].root()
	o.Place, _, _ = strings.Cut(last.name, " sum")
	o.Block = last.block
	return o, nil
}

func typeOf(n *G.Node) op.Type {
	if n.Dtype() == tensor.Int32 {
		return op.Type{Shape: n.Shape(), Of: op.Int32}
	}
	return op.Type{Shape: n.Shape()}
}
