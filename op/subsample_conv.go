package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// SubsampleConv is stage 0 of the subsampling: from one channel to C, 3×3, stride 2, padding 1, then ReLU.
// Feature frames past the utterance's length count as zeros, whatever they hold. Channels come out last;
// T' = (T+1)/2, F' = (F+1)/2.
//
//	x [B, T, F], w [C, 1, 3, 3] (time, frequency), b [C], lengths [B] int -> y [B, T', F', C]
//	y[t][f][c] = max(0, b[c] + sum over i, j of w[c][0][i][j]*x[2t+i-1][2f+j-1])
//	g = dy where y > 0, else 0 (relu.grad)
//	dx[u][h] = the sum of w[c][0][i][j]*g[t][f][c] over u = 2t+i-1, h = 2f+j-1; 0 past the length
//	dw[c][0][i][j] = the sum of g[t][f][c]*x[2t+i-1][2f+j-1]    db = the column sums of g
func (g *Graph) SubsampleConv(x, w, b, lengths *G.Node) *G.Node {
	return g.add(newSubsampleConv, x, w, b, lengths)
}

type (
	subsampleConv           struct{ subsampling }
	subsampleConvGradInput  struct{ subsampling }
	subsampleConvGradWeight struct{ subsampling }
)

func newSubsampleConv(in []Type) (*Op, error) {
	x, w := in[0].Shape, in[1].Shape
	if !isFloats(in[0], 3) || !isKernels(in[1]) || !isVector(in[2], w[0]) || !isLengths(in[3], in[0]) {
		return nil, want("subsample.conv", "[B, T, F], [C, 1, 3, 3], [C], [B] int", in)
	}
	s := subsampling{x[0], x[1], x[2], w[0], 1}
	return &Op{
		Name: "subsample.conv", Out: Type{Shape: s.out()}, FLOPs: s.flops(), family: subsampleConv{s},
		wrt: []bool{true, true, true, false},
		grad: func(g *Graph, in G.Nodes, y, dy *G.Node) G.Nodes {
			dsum := g.add(newReluGrad, y, dy) // what the documentation calls g
			dx := g.add(newSubsampleConvGradInput(s), dsum, in[1], in[3])
			dw := g.add(newSubsampleConvGradWeight(s), dsum, in[0], in[3])
			return G.Nodes{dx, dw, g.add(newColumnSum, dsum), nil}
		},
	}, nil
}

// newSubsampleConvGradInput is dx: g [B, T', F', C], w [C, 1, 3, 3], lengths [B] int -> [B, T, F].
func newSubsampleConvGradInput(s subsampling) func(in []Type) (*Op, error) {
	return func([]Type) (*Op, error) {
		return &Op{ // T and F don't follow from T' and F': they belong to the identity
			Name: "subsample.conv.dx", Params: fmt.Sprint(s.t, "×", s.f), Out: Type{Shape: []int{s.b, s.t, s.f}},
			FLOPs: s.flops(), family: subsampleConvGradInput{s},
		}, nil
	}
}

// newSubsampleConvGradWeight is dw: g [B, T', F', C], x [B, T, F], lengths [B] int -> [C, 1, 3, 3].
func newSubsampleConvGradWeight(s subsampling) func(in []Type) (*Op, error) {
	return func([]Type) (*Op, error) {
		return &Op{
			Name: "subsample.conv.dw", Out: Type{Shape: []int{s.c, 1, 3, 3}}, FLOPs: s.flops(),
			family: subsampleConvGradWeight{s},
		}, nil
	}
}
