package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// CrossEntropy is the decoder's loss with label smoothing e, in nats, summed over an utterance's n+1 tokens: the
// n of its target, and SosEos after them.
//
//	logits [B, L, V], targets [B, L-1] int, targetLengths [B] int -> [B]
//	loss_b = -sum_l sum_c q_lc log p_lc, p = softmax(logits), q = e/V for every class and 1-e more for token l
//	dlogits = dloss_b (p - q), exactly 0 in the rows past n+1
//
// An absent row (n = -1) has no steps: loss and gradient are 0.
//
// Smoothing is as in PyTorch (the target's own share of e included); Szegedy et al. 2016, section 7.
func (g *Graph) CrossEntropy(logits, targets, targetLengths *G.Node, smoothing float64) *G.Node {
	return g.add(newCrossEntropy(smoothing), logits, targets, targetLengths)
}

// crossEntropyShape: L steps, V classes, smoothing e.
type crossEntropyShape struct {
	batch, l, v int
	e           float64
}

type (
	crossEntropy     struct{ crossEntropyShape }
	crossEntropyGrad struct{ crossEntropyShape }
)

func (s *crossEntropyShape) fit(in []Type) error {
	logits, targets := in[0].Shape, in[1].Shape
	if !isFloats(in[0], 3) || !isInts(in[1], 2) || !isLengths(in[2], in[0]) ||
		targets[0] != logits[0] || targets[1]+1 != logits[1] || logits[2] <= SosEos {
		return want("crossentropy", "[B, L, V] with V of 2 or more, [B, L-1] int, [B] int", in)
	}
	if !(s.e >= 0 && s.e < 1) {
		return fmt.Errorf("crossentropy: label smoothing is %v, want 0 or more and less than 1", s.e)
	}
	s.batch, s.l, s.v = logits[0], logits[1], logits[2]
	return nil
}

func newCrossEntropy(smoothing float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		s := crossEntropyShape{e: smoothing}
		if err := s.fit(in); err != nil {
			return nil, err
		}
		return &Op{
			Name: "crossentropy", Params: fmt.Sprintf("smoothing=%g", s.e), Out: Type{Shape: []int{s.batch}},
			FLOPs: 5 * float64(s.batch*s.l*s.v), family: crossEntropy{s},
			wrt: []bool{true, false, false},
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				return G.Nodes{g.add(newCrossEntropyGrad(smoothing), dy, in[0], in[1], in[2]), nil, nil}
			},
		}, nil
	}
}

// newCrossEntropyGrad is dlogits: dloss [B] and the forward operands -> [B, L, V].
func newCrossEntropyGrad(smoothing float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		s := crossEntropyShape{e: smoothing}
		if err := s.fit(in[1:]); err != nil {
			return nil, err
		}
		if !isVector(in[0], s.batch) {
			return nil, want("crossentropy.grad", "[B], [B, L, V], [B, L-1] int, [B] int", in)
		}
		return &Op{
			Name: "crossentropy.grad", Params: fmt.Sprintf("smoothing=%g", s.e), Out: Type{Shape: in[1].Shape.Clone()},
			FLOPs: 5 * float64(s.batch*s.l*s.v), family: crossEntropyGrad{s},
		}, nil
	}
}

// steps is the number of true steps of utterance b: its target's tokens and the end, none of an absent row.
func (s *crossEntropyShape) steps(lengths []int32, b int) int {
	return rowCount{factor: 1, extra: 1}.of(lengths, b, s.l)
}

// token is what step l of utterance b, which has n steps, should say.
func (s *crossEntropyShape) token(targets []int32, b, l, n int) int {
	if l == n-1 {
		return SosEos
	}
	return int(targets[b*(s.l-1)+l])
}
