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
func (g *Graph) Depthwise(x, w, b *G.Node) *G.Node { return g.add(depthwise, x, w, b) }

func depthwise(in []Type) (*Op, error) {
	x, w := in[0].Shape, in[1].Shape
	if in[0].Int || x.Dims() != 3 || in[1].Int || w.Dims() != 2 || w[0] != x[2] || w[1]%2 != 1 || !isVector(in[2], x[2]) {
		return nil, want("depthwise", "[B, T, D], [D, K] with K odd, [D]", in)
	}
	s := depthwiseShape{x[0], x[1], x[2], w[1]}
	return &Op{
		Name: "depthwise", Out: x.Clone(), Scratch: s.k * s.d, FLOPs: s.flops(),
		Run: depthwiseCPU(s), Ref: depthwiseRef(s),
		wrt: []bool{true, true, true},
		grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
			b := behind(dy)
			dx := b.add(depthwiseGradInput(s), dy, in[1])
			dw := b.add(depthwiseGradWeight(s), dy, in[0])
			db := b.add(columnSum, dy)
			return G.Nodes{dx, dw, db}, b.err
		},
	}, nil
}

// depthwiseGradInput is dx: dy [B, T, D], w [D, K] -> [B, T, D].
func depthwiseGradInput(s depthwiseShape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "depthwise.dx", Out: in[0].Shape.Clone(), Scratch: s.k * s.d, FLOPs: s.flops(),
			Run: depthwiseGradInputCPU(s), Ref: depthwiseGradInputRef(s),
		}, nil
	}
}

// depthwiseGradWeight is dw: dy, x [B, T, D] -> [D, K].
func depthwiseGradWeight(s depthwiseShape) func(in []Type) (*Op, error) {
	return func([]Type) (*Op, error) {
		return &Op{
			Name: "depthwise.dw", Out: []int{s.d, s.k}, Scratch: s.k*s.d + s.d, FLOPs: s.flops(), Accumulates: true,
			Run: depthwiseGradWeightCPU(s), Ref: depthwiseGradWeightRef(s),
		}, nil
	}
}

// depthwiseShape: b utterances of t frames of d channels, kernels of k taps.
type depthwiseShape struct{ b, t, d, k int }

func (s depthwiseShape) flops() float64 { return 2 * float64(s.b*s.t*s.d*s.k) }
