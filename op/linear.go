package op

import G "gorgonia.org/gorgonia"

// Linear is y = x·Wᵀ + b over the last dimension.
//
//	x [..., I], w [O, I], b [O] or nil -> y [..., O]
//	dx = dy·W    dW = dyᵀ·x    db = the column sums of dy
func (g *Graph) Linear(x, w, b *G.Node) *G.Node {
	if b == nil {
		return g.add(newLinear, x, w)
	}
	return g.add(newLinear, x, w, b)
}

// linearShape: n rows of i inputs and o outputs.
type linearShape struct{ n, i, o int }

func (s linearShape) flops() float64 { return 2 * float64(s.n*s.i*s.o) }

type (
	linear           struct{ linearShape } // x, w and, if there is one, b
	linearGradInput  struct{ linearShape }
	linearGradWeight struct{ linearShape }
	columnSum        struct{ b, n, o int } // n rows of o in all, of b utterances
)

func newLinear(in []Type) (*Op, error) {
	if in[0].Of != Float32 || in[0].Shape.Dims() < 1 || !isFloats(in[1], 2) || last(in[0].Shape) != in[1].Shape[1] ||
		len(in) == 3 && !isVector(in[2], in[1].Shape[0]) {
		return nil, want("linear", "[..., I], [O, I], [O]", in)
	}
	out := in[0].Shape.Clone()
	out[len(out)-1] = in[1].Shape[0]
	s := linearShape{rows(out), in[1].Shape[1], in[1].Shape[0]}
	return &Op{
		Name: "linear", Out: Type{Shape: out}, FLOPs: s.flops(), family: linear{s},
		wrt: []bool{true, true, true}[:len(in)],
		grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
			grads := G.Nodes{g.add(newLinearGradInput, dy, in[1]), g.add(newLinearGradWeight, dy, in[0])}
			if len(in) == 3 {
				grads = append(grads, g.add(newColumnSum, dy))
			}
			return grads
		},
	}, nil
}

// newLinearGradInput is dx = dy·W: dy [..., O], w [O, I] -> [..., I].
func newLinearGradInput(in []Type) (*Op, error) {
	if last(in[0].Shape) != in[1].Shape[0] {
		return nil, want("linear.dx", "[..., O], [O, I]", in)
	}
	out := in[0].Shape.Clone()
	out[len(out)-1] = in[1].Shape[1]
	s := linearShape{rows(out), in[1].Shape[1], in[1].Shape[0]}
	return &Op{Name: "linear.dx", Out: Type{Shape: out}, FLOPs: s.flops(), family: linearGradInput{s}}, nil
}

// newLinearGradWeight is dW = dyᵀ·x: dy [..., O], x [..., I] -> [O, I].
func newLinearGradWeight(in []Type) (*Op, error) {
	n := rows(in[0].Shape)
	if n != rows(in[1].Shape) {
		return nil, want("linear.dw", "[..., O], [..., I] of equal rows", in)
	}
	s := linearShape{n, last(in[1].Shape), last(in[0].Shape)}
	return &Op{Name: "linear.dw", Out: Type{Shape: []int{s.o, s.i}}, FLOPs: s.flops(), family: linearGradWeight{s}}, nil
}

// newColumnSum is db: dy [..., O] -> [O].
func newColumnSum(in []Type) (*Op, error) {
	b, each := utterances(in[0].Shape)
	s := columnSum{b, b * each, last(in[0].Shape)}
	return &Op{Name: "linear.db", Out: Type{Shape: []int{s.o}}, FLOPs: float64(s.n * s.o), family: s}, nil
}
