package op

import G "gorgonia.org/gorgonia"

// Depthwise is the convolution over time of each channel with its own kernel, of odd length K, with zeros
// around the utterance: p = (K-1)/2,
//
//	y[t][c] = b[c] + sum over j in [0, K) of w[c][j]*x[t+j-p][c]
//	x [B, T, D], w [D, K], b [D] -> y [B, T, D]
//	dx[t][c] = sum over j of w[c][j]*dy[t-j+p][c]
//	dw[c][j] = sum over b, t of dy[t][c]*x[t+j-p][c]    db = the column sums of dy
//
// It looks sideways and takes no lengths: x must be 0 past the utterance's own frames, as [Graph.GLU] leaves
// it. dx is then not 0 in the first p frames of padding; the gradient of GLU drops them.
func (g *Graph) Depthwise(x, w, b *G.Node) *G.Node { return g.add(newDepthwise, x, w, b) }

// depthwiseShape: b utterances of t frames of d channels, kernels of k taps.
type depthwiseShape struct{ b, t, d, k int }

func (s depthwiseShape) flops() float64 { return 2 * float64(s.b*s.t*s.d*s.k) }

type (
	depthwise           struct{ depthwiseShape }
	depthwiseGradInput  struct{ depthwiseShape }
	depthwiseGradWeight struct{ depthwiseShape }
)

func newDepthwise(in []Type) (*Op, error) {
	x, w := in[0].Shape, in[1].Shape
	if !isFloats(in[0], 3) || !isFloats(in[1], 2) || w[0] != x[2] || w[1]%2 != 1 || !isVector(in[2], x[2]) {
		return nil, want("depthwise", "[B, T, D], [D, K] with K odd, [D]", in)
	}
	s := depthwiseShape{x[0], x[1], x[2], w[1]}
	return &Op{
		Name: "depthwise", Out: Type{Shape: x.Clone()}, FLOPs: s.flops(), family: depthwise{s},
		wrt: []bool{true, true, true},
		grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
			dx := g.add(newDepthwiseGradInput(s), dy, in[1])
			dw := g.add(newDepthwiseGradWeight(s), dy, in[0])
			return G.Nodes{dx, dw, g.add(newColumnSum, dy)}
		},
	}, nil
}

// newDepthwiseGradInput is dx: dy [B, T, D], w [D, K] -> [B, T, D].
func newDepthwiseGradInput(s depthwiseShape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "depthwise.dx", Out: Type{Shape: in[0].Shape.Clone()}, FLOPs: s.flops(), family: depthwiseGradInput{s},
		}, nil
	}
}

// newDepthwiseGradWeight is dw: dy, x [B, T, D] -> [D, K].
func newDepthwiseGradWeight(s depthwiseShape) func(in []Type) (*Op, error) {
	return func([]Type) (*Op, error) {
		return &Op{
			Name: "depthwise.dw", Out: Type{Shape: []int{s.d, s.k}}, FLOPs: s.flops(), family: depthwiseGradWeight{s},
		}, nil
	}
}
