package op

import (
	"math"

	G "gorgonia.org/gorgonia"
)

// SosEos is the id of the token that starts a decoder's input and ends its target. 0 is CTC's blank and the padding.
const SosEos = 1

// Embed is the decoder's input: the start token and the target, each as its row of w times sqrt(d), plus the
// sinusoid of its position.
//
//	targets [B, U] int, w [V, d] -> y [B, U+1, d], d even
//	y[b, l] = sqrt(d) w[token] + PE[l],  token = SosEos at l = 0, targets[b, l-1] after it
//	PE[t, 2m] = sin(t w_m), PE[t, 2m+1] = cos(t w_m), w_m = 10000^(-2m/d)    (Vaswani et al. 2017, section 3.5)
//	dw[t] = sqrt(d) times the sum of dy over the places of token t
//
// Targets are ids below V; padding is 0, and its dy is 0.
func (g *Graph) Embed(targets, w *G.Node) *G.Node { return g.add(embed, targets, w) }

func embed(in []Type) (*Op, error) {
	if !in[0].Int || in[0].Shape.Dims() != 2 || in[1].Int || in[1].Shape.Dims() != 2 || in[1].Shape[0] <= SosEos || in[1].Shape[1]%2 != 0 {
		return nil, want("embed", "[B, U] int, [V, d] with V of 2 or more and d even", in)
	}
	s := embedShape{in[0].Shape[0], in[0].Shape[1], in[1].Shape[0], in[1].Shape[1]}
	table := Sinusoid(0, 1, s.u+1, s.d)
	return &Op{
		Name: "embed", Out: []int{s.batch, s.u + 1, s.d}, Run: s.cpu(table), Ref: s.ref, FLOPs: 2 * float64(s.batch*(s.u+1)*s.d),
		wrt: []bool{false, true},
		grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
			dw, err := build(embedGrad(s.v), dy, in[0])
			return G.Nodes{nil, dw}, err
		},
	}, nil
}

// embedGrad is dw: dy [B, U+1, d], targets [B, U] int -> [V, d].
func embedGrad(v int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		dy, targets := in[0].Shape, in[1].Shape
		if in[0].Int || dy.Dims() != 3 || !in[1].Int || targets.Dims() != 2 || dy[0] != targets[0] || dy[1] != targets[1]+1 {
			return nil, want("embed.grad", "[B, U+1, d], [B, U] int", in)
		}
		s := embedShape{targets[0], targets[1], v, dy[2]}
		return &Op{
			Name: "embed.grad", Out: []int{s.v, s.d}, Run: s.gradCPU, Ref: s.gradRef, Accumulates: true,
			FLOPs: 2 * float64(s.batch*(s.u+1)*s.d),
		}, nil
	}
}

type embedShape struct{ batch, u, v, d int }

// token is the token of step l of utterance b.
func (s embedShape) token(targets []int32, b, l int) int {
	if l == 0 {
		return SosEos
	}
	return int(targets[b*s.u+l-1])
}

func (s embedShape) scale() float64 { return math.Sqrt(float64(s.d)) }

// Sinusoid is the table [n, d] whose row c holds the position r = first + c*step: sin(r w_m) in column 2m and
// cos(r w_m) in column 2m+1, w_m = 10000^(-2m/d). d is even.
func Sinusoid(first, step, n, d int) []float32 {
	t := make([]float32, n*d)
	for i, v := range sinusoid(first, step, n, d) {
		t[i] = float32(v)
	}
	return t
}

// RelativeTable is the table of distances for all of up to longest frames: row c holds r = longest-1-c, down to
// -(longest-1). What S frames need is its 2S-1 rows from longest-S on.
func RelativeTable(longest, d int) []float32 { return Sinusoid(longest-1, -1, 2*longest-1, d) }

func sinusoid(first, step, n, d int) []float64 {
	t := make([]float64, n*d)
	for c := range n {
		r := float64(first + c*step)
		for m := range d / 2 {
			sin, cos := math.Sincos(r * math.Pow(10000, -2*float64(m)/float64(d)))
			t[c*d+2*m], t[c*d+2*m+1] = sin, cos
		}
	}
	return t
}
