package op

import G "gorgonia.org/gorgonia"

// ChannelMajor flattens the bins and channels of a frame, channel by channel: y[c*F+f] = x[f][c]. It is the
// order in which the projection after the subsampling has its weights.
//
//	x [B, T, F, C] -> y [B, T, C*F]
//	dx[f][c] = dy[c*F+f]
func (g *Graph) ChannelMajor(x *G.Node) *G.Node { return g.add(channelMajor, x) }

func channelMajor(in []Type) (*Op, error) {
	s := in[0].Shape
	if in[0].Int || s.Dims() != 4 {
		return nil, want("channelmajor", "[B, T, F, C]", in)
	}
	n, f, c := s[0]*s[1], s[2], s[3]
	return &Op{
		Name: "channelmajor", Out: []int{s[0], s[1], f * c}, Run: transposeCPU(n, f, c), Ref: transposeRef(n, f, c),
		wrt: []bool{true},
		grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
			dx, err := build(channelMajorGrad(f, c), dy)
			return G.Nodes{dx}, err
		},
	}, nil
}

// channelMajorGrad is dx: dy [B, T, C*F] -> [B, T, F, C].
func channelMajorGrad(f, c int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		s := in[0].Shape
		return &Op{
			Name: "channelmajor.grad", Out: []int{s[0], s[1], f, c},
			Run: transposeCPU(s[0]*s[1], c, f), Ref: transposeRef(s[0]*s[1], c, f),
		}, nil
	}
}
