package op

import (
	"math"

	G "gorgonia.org/gorgonia"
)

// SosEos is the id of the token that starts a decoder's input and ends its target. 0 is CTC's blank and the padding.
const SosEos = 1

// Embed is the decoder's input: the start token and the target, each as its row of w times sqrt(d), plus the row of
// positions of its step.
//
//	targets [B, U] int, w [V, d], positions [U+1, d] -> y [B, U+1, d]
//	y[b, l] = sqrt(d) w[token] + positions[l],  token = SosEos at l = 0, targets[b, l-1] after it
//	dw[t] = sqrt(d) times the sum of dy over the places of token t
//
// positions is a constant without a gradient: [Sinusoid](0, 1, U+1, d), as in Vaswani et al. 2017, section 3.5. Targets
// are ids below V; padding is 0, and its dy is 0. So are the targets and the dy of an absent row.
func (g *Graph) Embed(targets, w, positions *G.Node) *G.Node {
	return g.add(newEmbed, targets, w, positions)
}

// embedShape: U tokens, V rows of d.
type embedShape struct{ batch, u, v, d int }

type (
	embed     struct{ embedShape }
	embedGrad struct{ embedShape }
)

func newEmbed(in []Type) (*Op, error) {
	const shapes = "[B, U] int, [V, d] with V of 2 or more, [U+1, d]"
	if !isInts(in[0], 2) || !isFloats(in[1], 2) || !isFloats(in[2], 2) {
		return nil, want("embed", shapes, in)
	}
	s := embedShape{in[0].Shape[0], in[0].Shape[1], in[1].Shape[0], in[1].Shape[1]}
	if s.v <= SosEos || in[2].Shape[0] != s.u+1 || in[2].Shape[1] != s.d {
		return nil, want("embed", shapes, in)
	}
	return &Op{
		Name: "embed", Out: Type{Shape: []int{s.batch, s.u + 1, s.d}}, FLOPs: s.flops(), family: embed{s},
		wrt: []bool{false, true, false},
		grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
			return G.Nodes{nil, g.add(newEmbedGrad(s.v), dy, in[0]), nil}
		},
	}, nil
}

// newEmbedGrad is dw: dy [B, U+1, d], targets [B, U] int -> [V, d].
func newEmbedGrad(v int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		dy, targets := in[0].Shape, in[1].Shape
		if !isFloats(in[0], 3) || !isInts(in[1], 2) || dy[0] != targets[0] || dy[1] != targets[1]+1 {
			return nil, want("embed.grad", "[B, U+1, d], [B, U] int", in)
		}
		s := embedShape{targets[0], targets[1], v, dy[2]}
		return &Op{Name: "embed.grad", Out: Type{Shape: []int{s.v, s.d}}, FLOPs: s.flops(), family: embedGrad{s}}, nil
	}
}

// token is the token of step l of utterance b.
func (s embedShape) token(targets []int32, b, l int) int {
	if l == 0 {
		return SosEos
	}
	return int(targets[b*s.u+l-1])
}

func (s embedShape) scale() float64 { return math.Sqrt(float64(s.d)) }
func (s embedShape) flops() float64 { return 2 * float64(s.batch*(s.u+1)*s.d) }
