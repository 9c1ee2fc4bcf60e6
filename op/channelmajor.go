package op

import G "gorgonia.org/gorgonia"

// ChannelMajor flattens the bins and channels of a frame, channel by channel: y[c*F+f] = x[f][c]. It is the
// order in which the projection after the subsampling has its weights.
//
//	x [B, T, F, C] -> y [B, T, C*F]
//	dx[f][c] = dy[c*F+f]
func (g *Graph) ChannelMajor(x *G.Node) *G.Node { return g.add(newChannelMajor, x) }

// channelMajor turns n matrices [r, c] into [c, r].
type channelMajor struct{ n, r, c int }

func newChannelMajor(in []Type) (*Op, error) {
	if !isFloats(in[0], 4) {
		return nil, want("channelmajor", "[B, T, F, C]", in)
	}
	s := in[0].Shape
	f, c := s[2], s[3]
	return &Op{
		Name: "channelmajor", Out: Type{Shape: []int{s[0], s[1], f * c}}, family: channelMajor{s[0] * s[1], f, c},
		wrt: []bool{true},
		grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
			return G.Nodes{g.add(newChannelMajorGrad(f, c), dy)}
		},
	}, nil
}

// newChannelMajorGrad is dx: dy [B, T, C*F] -> [B, T, F, C].
func newChannelMajorGrad(f, c int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		s := in[0].Shape
		return &Op{
			Name: "channelmajor.grad", Out: Type{Shape: []int{s[0], s[1], f, c}}, family: channelMajor{s[0] * s[1], c, f},
		}, nil
	}
}
