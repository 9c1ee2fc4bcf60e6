package op

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
)

// The ops of a decoder that goes on by one token: R prefixes of each utterance at a time, each as long as it is. They
// have no gradient.

// EmbedAt is the input of a decoder at one step: a token as its row of w times sqrt(d), plus the row of positions of
// its place. See [Graph.Embed], which has all steps of a target.
//
//	tokens [B, R] int, at [B, R] int, w [V, d], positions [P, d] -> y [B, R, d]
//	y[b, r] = sqrt(d) w[tokens[b, r]] + positions[at[b, r]]
//
// Tokens are ids below V and places below P; where at is -1 there is no prefix, and y is 0.
func (g *Graph) EmbedAt(tokens, at, w, positions *G.Node) *G.Node {
	return g.add(newEmbedAt, tokens, at, w, positions)
}

type embedAt struct{ prefixes, d int }

func newEmbedAt(in []Type) (*Op, error) {
	t, at, w, p := in[0], in[1], in[2], in[3]
	if !isInts(t, 2) || !isInts(at, 2) || !isFloats(w, 2) || !isFloats(p, 2) || !slices.Equal(t.Shape, at.Shape) || w.Shape[1] != p.Shape[1] {
		return nil, want("embed.at", "[B, R] int, [B, R] int, [V, d], [P, d]", in)
	}
	s := embedAt{Size(t.Shape), w.Shape[1]}
	out := Type{Shape: []int{t.Shape[0], t.Shape[1], s.d}}
	return &Op{Name: "embed.at", Out: out, FLOPs: 2 * float64(s.prefixes*s.d), family: s}, nil
}

func (s embedAt) scale() float64 { return math.Sqrt(float64(s.d)) }

// StepAttention is causal self-attention at one step, with the keys and values of the steps before it kept from then:
// what [Graph.Attention] with Causal gives for the last query. Prefix r of utterance b is at step n = at[b, r], and
// sees its n kept keys and its own, k[b, r]. Per head, as in Attention:
//
//	score[c] = q·keys[c] / sqrt(dh) for c < n, q·k / sqrt(dh) for its own    y = sum of softmax(score) times values and v
//	q, k, v [B, R, d], keys, values [B, R, C, d], at [B, R] int -> y [B, R, d]
//
// at is at most C. Where it is -1 there is no prefix, and y is 0. Nothing behind the n kept rows is read.
func (g *Graph) StepAttention(q, k, v, keys, values, at *G.Node, heads int) *G.Node {
	return g.add(newStepAttention(heads), q, k, v, keys, values, at)
}

type stepAttention struct{ prefixes, kept, d, heads int }

func newStepAttention(heads int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		q, keys, at := in[0], in[3], in[5]
		fits := isFloats(q, 3) && same(q, in[1]) && same(q, in[2]) && isFloats(keys, 4) && same(keys, in[4]) && isInts(at, 2)
		if fits {
			x, k := q.Shape, keys.Shape
			fits = x[0] == k[0] && x[1] == k[1] && x[2] == k[3] && at.Shape[0] == x[0] && at.Shape[1] == x[1] && heads >= 1 && x[2]%heads == 0
		}
		if !fits {
			return nil, want("attention.step", "three times [B, R, d], twice [B, R, C, d], [B, R] int, with d a multiple of the heads", in)
		}
		s := stepAttention{q.Shape[0] * q.Shape[1], keys.Shape[2], q.Shape[2], heads}
		return &Op{
			Name: "attention.step", Params: fmt.Sprintf("heads=%d", heads), Out: Type{Shape: q.Shape.Clone()},
			FLOPs: float64(s.prefixes * (s.kept + 1) * (4*s.d + 4*heads)), family: s,
		}, nil
	}
}

// scale is 1/sqrt(dh).
func (s stepAttention) scale() float64 { return 1 / math.Sqrt(float64(s.d/s.heads)) }
