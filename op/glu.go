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
func (g *Graph) GLU(x, lengths *G.Node, factor int) *G.Node { return g.add(glu(factor), x, lengths) }

func glu(factor int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if s := in[0].Shape; in[0].Int || s.Dims() != 3 || s[2]%2 != 0 || !isLengths(in[1], in[0]) {
			return nil, want("glu", "[B, T, 2D], [B] int", in)
		}
		if !isFactor(factor) {
			return nil, fmt.Errorf("glu: subsampling factor is %d, want 1, 2, 4 or 8", factor)
		}
		s := gluShape{in[0].Shape[0], in[0].Shape[1], in[0].Shape[2] / 2, factor}
		return &Op{
			Name: "glu", Params: fmt.Sprint(factor), Out: []int{s.b, s.t, s.d},
			Run: gluCPU(s), Ref: gluRef(s), FLOPs: 10 * float64(s.b*s.t*s.d),
			wrt: []bool{true, false},
			grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
				dx, err := build(gluGrad(s), in[0], in[1], dy)
				return G.Nodes{dx, nil}, err
			},
		}, nil
	}
}

// gluGrad is dx: x [B, T, 2D], lengths [B] int, dy [B, T, D] -> like x.
func gluGrad(s gluShape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "glu.grad", Params: fmt.Sprint(s.factor), Out: in[0].Shape.Clone(), InPlace: []int{0},
			Run: gluGradCPU(s), Ref: gluGradRef(s), FLOPs: 14 * float64(s.b*s.t*s.d),
		}, nil
	}
}

// gluShape: b utterances of t frames of d results, after subsampling by factor.
type gluShape struct{ b, t, d, factor int }
