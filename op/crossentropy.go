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
// Smoothing is as in PyTorch (the target's own share of e included); Szegedy et al. 2016, section 7.
func (g *Graph) CrossEntropy(logits, targets, targetLengths *G.Node, smoothing float64) *G.Node {
	return g.add(crossEntropy(smoothing), logits, targets, targetLengths)
}

// crossEntropyShape: L steps, V classes, smoothing e.
type crossEntropyShape struct {
	batch, l, v int
	e           float64
}

func (s *crossEntropyShape) fit(in []Type) error {
	logits, targets := in[0].Shape, in[1].Shape
	if in[0].Int || logits.Dims() != 3 || !in[1].Int || targets.Dims() != 2 || !isLengths(in[2], in[0]) ||
		targets[0] != logits[0] || targets[1]+1 != logits[1] || logits[2] <= SosEos {
		return want("crossentropy", "[B, L, V] with V of 2 or more, [B, L-1] int, [B] int", in)
	}
	if !(s.e >= 0 && s.e < 1) {
		return fmt.Errorf("crossentropy: label smoothing is %v, want 0 or more and less than 1", s.e)
	}
	s.batch, s.l, s.v = logits[0], logits[1], logits[2]
	return nil
}

func crossEntropy(smoothing float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		s := crossEntropyShape{e: smoothing}
		if err := s.fit(in); err != nil {
			return nil, err
		}
		return &Op{
			Name: "crossentropy", Params: fmt.Sprintf("smoothing=%g", s.e), Out: []int{s.batch}, Run: s.cpu, Ref: s.ref,
			Scratch: s.v, FLOPs: 5 * float64(s.batch*s.l*s.v),
			wrt: []bool{true, false, false},
			grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
				dx, err := build(crossEntropyGrad(smoothing), dy, in[0], in[1], in[2])
				return G.Nodes{dx, nil, nil}, err
			},
		}, nil
	}
}

// crossEntropyGrad is dlogits: dloss [B] and the forward operands -> [B, L, V].
func crossEntropyGrad(smoothing float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		s := crossEntropyShape{e: smoothing}
		if err := s.fit(in[1:]); err != nil {
			return nil, err
		}
		if !isVector(in[0], s.batch) {
			return nil, want("crossentropy.grad", "[B], [B, L, V], [B, L-1] int, [B] int", in)
		}
		return &Op{
			Name: "crossentropy.grad", Params: fmt.Sprintf("smoothing=%g", s.e), Out: in[1].Shape.Clone(), InPlace: []int{1},
			Run: s.gradCPU, Ref: s.gradRef, FLOPs: 5 * float64(s.batch*s.l*s.v),
		}, nil
	}
}

// steps is the number of true steps of utterance b: its target's tokens and the end.
func (s *crossEntropyShape) steps(lengths []int32, b int) int { return valid(lengths, b, 1, s.l-1) + 1 }

// token is what step l of utterance b, which has n steps, should say.
func (s *crossEntropyShape) token(targets []int32, b, l, n int) int {
	if l == n-1 {
		return SosEos
	}
	return int(targets[b*(s.l-1)+l])
}
