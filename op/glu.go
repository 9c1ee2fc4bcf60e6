package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// GLU is the gated linear unit with the convolution module's mask: in the utterance's own frames the first
// half of a row times the sigmoid of the second, and exactly 0 past them, whatever x holds there (the mask
// selects, it doesn't multiply). lengths are in feature frames, factor is the subsampling before this op.
//
//	x [B, T, 2D], lengths [B] int -> y [B, T, D]
//	y = a*s, x = [a | c], s = sigmoid(c)
//	da = dy*s    dc = dy*a*s*(1-s)    both 0 past the utterance's own frames, whatever dy holds there
//
// (Dauphin, Fan, Auli and Grangier 2017.)
func (g *Graph) GLU(x, lengths *G.Node, factor int) *G.Node { return g.add(newGLU(factor), x, lengths) }

// gluShape: b utterances of t frames of d results, after subsampling by factor.
type gluShape struct{ b, t, d, factor int }

type (
	glu     struct{ gluShape }
	gluGrad struct{ gluShape }
)

func newGLU(factor int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if !isFloats(in[0], 3) || in[0].Shape[2]%2 != 0 || !isLengths(in[1], in[0]) {
			return nil, want("glu", "[B, T, 2D], [B] int", in)
		}
		if !isFactor(factor) {
			return nil, fmt.Errorf("glu: subsampling factor is %d, want 1, 2, 4 or 8", factor)
		}
		s := gluShape{in[0].Shape[0], in[0].Shape[1], in[0].Shape[2] / 2, factor}
		return &Op{
			Name: "glu", Params: fmt.Sprint(factor), Out: Type{Shape: []int{s.b, s.t, s.d}},
			FLOPs: 10 * float64(s.b*s.t*s.d), family: glu{s},
			wrt: []bool{true, false},
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				return G.Nodes{g.add(newGLUGrad(s), in[0], in[1], dy), nil}
			},
		}, nil
	}
}

// newGLUGrad is dx: x [B, T, 2D], lengths [B] int, dy [B, T, D] -> like x.
func newGLUGrad(s gluShape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "glu.grad", Params: fmt.Sprint(s.factor), Out: Type{Shape: in[0].Shape.Clone()},
			FLOPs: 14 * float64(s.b*s.t*s.d), family: gluGrad{s},
		}, nil
	}
}
