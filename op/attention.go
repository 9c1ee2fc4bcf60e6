package op

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// Attention and relative attention are one op with and without the relative term. Per utterance and head a,
// which owns the columns a*dh .. (a+1)*dh of every [.., d], dh = d/h:
//
//	score[i, j] = (q_i+u)·k_j / sqrt(dh) + (q_i+w)·p_{i-j} / sqrt(dh)       (relative)
//	score[i, j] = q_i·k_j / sqrt(dh)                                         (plain)
//	weight[i, ·] = softmax over the true keys j (those with j <= i where causal)
//	y_i = sum_j drop(weight[i, j]) v_j
//
// An utterance's rows past its length are 0 in y and in every gradient, and nothing there is read; an absent row has
// neither queries nor keys, and y is 0 too where there are queries but no key. The draw of weight [i, j] of head a is
// element j of row i*h + a, so that no padding moves it.
//
// No matrix of all queries by all keys is ever stored. Forward and backward go by tiles of queries with all
// their keys; a tile's scores are computed anew on the way back, from the inputs alone. With the gradient dy of y:
//
//	dv_j = sum_i drop(weight)[i, j] dy_i               dweight[i, j] = drop(dy_i·v_j)
//	dscore[i, j] = weight[i, j] (dweight[i, j] - sum_l weight[i, l] dweight[i, l]) / sqrt(dh)
//	dq_i = sum_j dscore[i, j] (k_j + p_{i-j})          dk_j = sum_i dscore[i, j] (q_i+u)
//	dp_r = sum over i-j = r of dscore[i, j] (q_i+w)    du = sum_ij dscore[i, j] k_j    dw = sum_ij dscore[i, j] p_{i-j}
//
// The relative term is that of Dai et al. 2019 (Transformer-XL), section 3.3.

// AttentionOptions is what Attention needs beside its operands. The true queries of an utterance are
// frames.Subsampled(qLengths[b], QueryFactor) + QueryExtra rows, its true keys likewise: factor 4 for encoder
// frames given in feature frames, extra 1 for a decoder's tokens, which the start token precedes. A length
// of -1, an absent row, means no rows even so. A factor of 0 is 1.
type AttentionOptions struct {
	Heads       int
	Causal      bool // query i sees keys 0 .. i
	QueryFactor int
	QueryExtra  int
	KeyFactor   int
	KeyExtra    int
	Drop        Drop // of the weights
}

// RelativeOptions is what RelativeAttention needs beside its operands.
type RelativeOptions struct {
	Heads  int
	Factor int  // encoder frames are feature frames subsampled by it
	Drop   Drop // of the weights
}

// Attention is scaled dot-product attention.
//
//	q [B, L, d], k, v [B, S, d], qLengths, kLengths [B] int, seeds [B, 2] int or nil (no dropout) -> [B, L, d]
func (g *Graph) Attention(q, k, v, qLengths, kLengths, seeds *G.Node, o AttentionOptions) *G.Node {
	a := attentionShape{
		heads: o.Heads, causal: o.Causal, drop: o.Drop,
		query: rowCount{max(o.QueryFactor, 1), o.QueryExtra},
		key:   rowCount{max(o.KeyFactor, 1), o.KeyExtra},
	}
	in := G.Nodes{q, k, v, qLengths, kLengths}
	if o.Drop.on(seeds) {
		a.dropping = true
		in = append(in, seeds)
	}
	return g.add(a.forward, in...)
}

// RelativeAttention is self-attention with relative positions. Row c of p belongs to the distance i-j = S-1-c.
//
//	q, k, v [B, S, d], p [2S-1, d], u, w [h, dh], lengths [B] int, seeds [B, 2] int or nil (no dropout) -> [B, S, d]
func (g *Graph) RelativeAttention(q, k, v, p, u, w, lengths, seeds *G.Node, o RelativeOptions) *G.Node {
	n := rowCount{factor: max(o.Factor, 1)}
	a := attentionShape{heads: o.Heads, relative: true, drop: o.Drop, query: n, key: n}
	in := G.Nodes{q, k, v, p, u, w, lengths, lengths}
	if o.Drop.on(seeds) {
		a.dropping = true
		in = append(in, seeds)
	}
	return g.add(a.forward, in...)
}

// attentionShape is all that forward and backward need to know. Operands are in the order q, k, v, (p, u, w), query
// lengths, key lengths, (seeds).
type attentionShape struct {
	batch, l, s, d   int // L queries and S keys of width d
	heads            int
	relative, causal bool
	dropping         bool
	query, key       rowCount
	drop             Drop
}

type (
	attention     struct{ attentionShape }
	attentionGrad struct{ attentionShape }
)

// floatOperands is the number of operands with a gradient, which come first.
func (a attentionShape) floatOperands() int {
	if a.relative {
		return 6
	}
	return 3
}

// fit takes the sizes from the operands' shapes and says whether they fit.
func (a *attentionShape) fit(in []Type) bool {
	n := a.floatOperands()
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	if q.Dims() != 3 || k.Dims() != 3 || !slices.Equal(k, v) || q[0] != k[0] || q[2] != k[2] || a.heads < 1 || q[2]%a.heads != 0 {
		return false
	}
	a.batch, a.l, a.s, a.d = q[0], q[1], k[1], q[2]
	if a.relative {
		p, bias := []int{2*a.s - 1, a.d}, []int{a.heads, a.d / a.heads}
		if a.l != a.s || !slices.Equal(in[3].Shape, p) || !slices.Equal(in[4].Shape, bias) || !slices.Equal(in[5].Shape, bias) {
			return false
		}
	}
	for _, t := range in[:n] {
		if t.Of != Float32 {
			return false
		}
	}
	return isLengths(in[n], in[0]) && isLengths(in[n+1], in[0]) && (!a.dropping || isSeeds(in[n+2], in[0]))
}

func (a attentionShape) name() string {
	if a.relative {
		return "attention.relative"
	}
	return "attention"
}

func (a attentionShape) params() string {
	s := fmt.Sprintf("heads=%d causal=%v query=%v key=%v", a.heads, a.causal, a.query, a.key)
	if a.dropping {
		s += " " + a.drop.String()
	}
	return s
}

func (a attentionShape) shapes() string {
	s := "[B, L, d], [B, S, d], [B, S, d]"
	if a.relative {
		s = "[B, S, d] three times, [2S-1, d], [h, d/h], [h, d/h]"
	}
	return s + fmt.Sprintf(", [B] int twice, [B, 2] int with dropout; h = %d", a.heads)
}

// check refuses what no shape can mend.
func (a attentionShape) check() error {
	if !isFactor(a.query.factor) || !isFactor(a.key.factor) || a.query.extra < 0 || a.key.extra < 0 {
		return fmt.Errorf("%s: lengths are subsampled by %v and %v, want factors of 1, 2, 4 or 8 and no negative extra rows",
			a.name(), a.query, a.key)
	}
	if a.dropping {
		return a.drop.check()
	}
	return nil
}

// forward makes the forward op.
func (a attentionShape) forward(in []Type) (*Op, error) {
	if !a.fit(in) {
		return nil, want(a.name(), a.shapes(), in)
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	wrt := make([]bool, len(in))
	for i := range a.floatOperands() {
		wrt[i] = true
	}
	return &Op{
		Name: a.name(), Params: a.params(), Out: Type{Shape: in[0].Shape.Clone()},
		FLOPs: a.flops(2, 3), family: &attention{a},
		wrt: wrt,
		grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
			packed := g.add(a.backward, append(G.Nodes{dy}, in...)...)
			like := make(G.Nodes, len(in))
			copy(like, in[:a.floatOperands()])
			return g.unpackLike(packed, like...)
		},
	}, nil
}

// backward makes the backward op: dy [B, L, d] and the forward operands -> the packed [dq | dk | dv | dp | du | dw].
func (a attentionShape) backward(in []Type) (*Op, error) {
	if len(in) < 6 || !a.fit(in[1:]) || !same(in[0], in[1]) {
		return nil, want(a.name()+".grad", "[B, L, d], "+a.shapes(), in)
	}
	size := 0
	for _, t := range in[1:][:a.floatOperands()] {
		size += t.Elements()
	}
	return &Op{
		Name: a.name() + ".grad", Params: a.params(), Out: Type{Shape: []int{size}},
		FLOPs: a.flops(5, 8), family: &attentionGrad{a},
	}, nil
}

// flops counts the products of all L queries with all S keys: plain of them, or relative with the relative term.
func (a attentionShape) flops(plain, relative int) float64 {
	n := plain
	if a.relative {
		n = relative
	}
	f := 2 * float64(n) * float64(a.batch*a.l) * float64(a.s*a.d)
	if a.causal {
		f /= 2
	}
	return f
}
