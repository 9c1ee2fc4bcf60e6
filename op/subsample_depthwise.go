package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// SubsampleDepthwise is the depthwise part of a further stage of the subsampling: each channel with its own
// 3×3 kernel, stride 2, padding 1, no activation. factor is the subsampling of x; its frames past the
// utterance's own count as zeros, whatever they hold. T' = (T+1)/2, F' = (F+1)/2.
//
//	x [B, T, F, C], w [C, 1, 3, 3] (time, frequency), b [C], lengths [B] int -> y [B, T', F', C]
//	y[t][f][c] = b[c] + sum over i, j of w[c][0][i][j]*x[2t+i-1][2f+j-1][c]
//	dx[u][h][c] = the sum of w[c][0][i][j]*dy[t][f][c] over u = 2t+i-1, h = 2f+j-1; 0 past the utterance's frames
//	dw[c][0][i][j] = the sum of dy[t][f][c]*x[2t+i-1][2f+j-1][c]    db = the column sums of dy
func (g *Graph) SubsampleDepthwise(x, w, b, lengths *G.Node, factor int) *G.Node {
	return g.add(newSubsampleDepthwise(factor), x, w, b, lengths)
}

type (
	subsampleDepthwise           struct{ subsampling }
	subsampleDepthwiseGradInput  struct{ subsampling }
	subsampleDepthwiseGradWeight struct{ subsampling }
)

func newSubsampleDepthwise(factor int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		x := in[0].Shape
		if !isFloats(in[0], 4) || !isKernels(in[1]) || in[1].Shape[0] != x[3] || !isVector(in[2], x[3]) || !isLengths(in[3], in[0]) {
			return nil, want("subsample.depthwise", "[B, T, F, C], [C, 1, 3, 3], [C], [B] int", in)
		}
		if !isFactor(factor) {
			return nil, fmt.Errorf("subsample.depthwise: subsampling factor is %d, want 1, 2, 4 or 8", factor)
		}
		s := subsampling{x[0], x[1], x[2], x[3], factor}
		return &Op{
			Name: "subsample.depthwise", Params: fmt.Sprint(factor), Out: Type{Shape: s.out()}, FLOPs: s.flops(),
			family: subsampleDepthwise{s},
			wrt:    []bool{true, true, true, false},
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				dx := g.add(newSubsampleDepthwiseGradInput(s), dy, in[1], in[3])
				dw := g.add(newSubsampleDepthwiseGradWeight(s), dy, in[0], in[3])
				return G.Nodes{dx, dw, g.add(newColumnSum, dy), nil}
			},
		}, nil
	}
}

// newSubsampleDepthwiseGradInput is dx: dy [B, T', F', C], w [C, 1, 3, 3], lengths [B] int -> [B, T, F, C].
func newSubsampleDepthwiseGradInput(s subsampling) func(in []Type) (*Op, error) {
	return func([]Type) (*Op, error) {
		return &Op{ // T and F don't follow from T' and F': they belong to the identity
			Name: "subsample.depthwise.dx", Params: fmt.Sprint(s.factor, " ", s.t, "×", s.f),
			Out: Type{Shape: []int{s.b, s.t, s.f, s.c}}, FLOPs: s.flops(), family: subsampleDepthwiseGradInput{s},
		}, nil
	}
}

// newSubsampleDepthwiseGradWeight is dw: dy [B, T', F', C], x [B, T, F, C], lengths [B] int -> [C, 1, 3, 3].
func newSubsampleDepthwiseGradWeight(s subsampling) func(in []Type) (*Op, error) {
	return func([]Type) (*Op, error) {
		return &Op{
			Name: "subsample.depthwise.dw", Params: fmt.Sprint(s.factor), Out: Type{Shape: []int{s.c, 1, 3, 3}},
			FLOPs: s.flops(), family: subsampleDepthwiseGradWeight{s},
		}, nil
	}
}
