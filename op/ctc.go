package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// Blank is the id of CTC's blank.
const Blank = 0

// CTC is connectionist temporal classification (Graves et al. 2006): the negative log likelihood of a target in
// nats, over all its alignments with the utterance's n frames.
//
//	logits [B, S, V], lengths [B] int in feature frames, targets [B, U] int, targetLengths [B] int -> [B]
//	states of a target of u tokens: blank, t_1, blank, ..., t_u, blank; N = 2u+1
//	alpha[t, s] = p[t, state s] (alpha[t-1, s] + alpha[t-1, s-1] + alpha[t-1, s-2]),  p = softmax(logits),
//	   the last term only into a token that differs from the token before it
//	beta[t, s] = the same backwards, without p[t]
//	loss = -log P,  P = alpha[n-1, N-1] + alpha[n-1, N-2]
//	dlogits[t, c] = dloss (p[t, c] - sum over the states s of class c of alpha[t, s] beta[t, s] / P)
//
// With smoothing e, 0 <= e < 1, the loss is mixed with the cross-entropy of each frame with the uniform distribution
// over the V classes, the blank included (a regularization that Kim et al. 2018, "Improved training for online
// end-to-end speech recognition systems", do with a divergence from it). Like the likelihood it is a sum over the n
// frames; it is at least n log V:
//
//	loss = (1-e) (-log P) + e sum over the frames t of -1/V sum over the classes c of log p[t, c]
//	dlogits[t, c] = dloss (p[t, c] - (1-e) sum over s as above - e/V)
//
// A target that has no alignment (frames.Feasible) has loss 0 and gradient 0, and so does no frame at all, as in an
// absent row. The gradient is exactly 0 past n frames.
func (g *Graph) CTC(logits, lengths, targets, targetLengths *G.Node, factor int, smoothing float64) *G.Node {
	return g.add(newCTC(factor, smoothing), logits, lengths, targets, targetLengths)
}

// ctcShape: S frames, V classes, U tokens at most; feature frames are subsampled by factor.
type ctcShape struct {
	batch, s, v, u, factor int
	smoothing              float64
}

// params are those of an op beside its shapes.
func (c *ctcShape) params() string {
	s := fmt.Sprintf("factor=%d", c.factor)
	if c.smoothing != 0 {
		s += fmt.Sprintf(" smoothing=%v", c.smoothing)
	}
	return s
}

// uniform is what smoothing takes off each class's gradient in a frame.
func (c *ctcShape) uniform() float64 { return c.smoothing / float64(c.v) }

type (
	ctc     struct{ ctcShape }
	ctcGrad struct{ ctcShape }
)

// states is N of the longest target.
func (c *ctcShape) states() int { return 2*c.u + 1 }

func (c *ctcShape) fit(in []Type) error {
	logits, targets := in[0].Shape, in[2].Shape
	if !isFloats(in[0], 3) || !isLengths(in[1], in[0]) || !isInts(in[2], 2) || targets[0] != logits[0] || !isLengths(in[3], in[0]) {
		return want("ctc", "[B, S, V], [B] int, [B, U] int, [B] int", in)
	}
	if !isFactor(c.factor) {
		return fmt.Errorf("ctc: lengths are subsampled by %d, want 1, 2, 4 or 8", c.factor)
	}
	if !(c.smoothing >= 0 && c.smoothing < 1) {
		return fmt.Errorf("ctc: smoothing is %v, want 0 or more and less than 1", c.smoothing)
	}
	c.batch, c.s, c.v, c.u = logits[0], logits[1], logits[2], targets[1]
	return nil
}

func newCTC(factor int, smoothing float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		c := ctcShape{factor: factor, smoothing: smoothing}
		if err := c.fit(in); err != nil {
			return nil, err
		}
		return &Op{
			Name: "ctc", Params: c.params(), Out: Type{Shape: []int{c.batch}}, FLOPs: c.flops(1), family: ctc{c},
			wrt: []bool{true, false, false, false},
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				return G.Nodes{g.add(newCTCGrad(factor, smoothing), append(G.Nodes{dy}, in...)...), nil, nil, nil}
			},
		}, nil
	}
}

// newCTCGrad is dlogits: dloss [B] and the forward operands -> [B, S, V].
func newCTCGrad(factor int, smoothing float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		c := ctcShape{factor: factor, smoothing: smoothing}
		if err := c.fit(in[1:]); err != nil {
			return nil, err
		}
		if !isVector(in[0], c.batch) {
			return nil, want("ctc.grad", "[B], [B, S, V], [B] int, [B, U] int, [B] int", in)
		}
		return &Op{
			Name: "ctc.grad", Params: c.params(), Out: Type{Shape: in[1].Shape.Clone()}, FLOPs: c.flops(3),
			family: ctcGrad{c},
		}, nil
	}
}

// flops counts the softmax, and 4 operations a state for each of passes.
func (c *ctcShape) flops(passes int) float64 {
	return float64(c.batch*c.s) * float64(5*c.v+4*passes*c.states())
}

// target is utterance b's own tokens.
func (c *ctcShape) target(targets, lengths []int32, b int) []int32 {
	return targets[b*c.u:][:valid(lengths, b, 1, c.u)]
}

// ctcSkips says whether state s may follow state s-2: it is a token, and another one than the token before.
func ctcSkips(target []int32, s int) bool {
	return s%2 == 1 && s > 1 && target[s/2] != target[s/2-1]
}
