package engine

import (
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// sketch makes small graphs whose nodes are all [1, 3, 4].
type sketch struct {
	*op.Graph
	feeds map[*G.Node]op.Array
	named map[string]*G.Node
}

// leaf is the input or parameter of a name, made at its first use.
func (s *sketch) leaf(name string, shape ...int) *G.Node {
	if n := s.named[name]; n != nil {
		return n
	}
	n := s.Input(name, shape...)
	s.named[name], s.feeds[n] = n, randomArray(testkit.Rand(uint64(len(s.named))), 1, shape...)
	return n
}

// through is a product of n with a square parameter.
func (s *sketch) through(n *G.Node, weight string) *G.Node {
	return s.Linear(n, s.leaf(weight, 4, 4), nil)
}

// plus is a + b; the gradient of both is the same node.
func (s *sketch) plus(a, b *G.Node) *G.Node { return s.Residual(a, 1, b, nil, op.Drop{}) }

// join makes one node of several that all count, in their order.
func (s *sketch) join(nodes ...*G.Node) *G.Node {
	y := nodes[0]
	for i, n := range nodes[1:] {
		y = s.Residual(y, 0.5+0.125*float32(i), n, nil, op.Drop{})
	}
	return y
}

// TestSumsThatMustNotBeFused holds graphs to the specifications whose gradients are sums with a term that somebody
// else needs, or that can't be added to. Each goes wrong if the check of fuseSum that it is named after is left out.
func TestSumsThatMustNotBeFused(t *testing.T) {
	for name, build := range map[string]func(s *sketch) *G.Node{
		// d(a+b) is a term of the gradients of both a and b, and the last one of both to be computed.
		"the term that is added has other readers": func(s *sketch) *G.Node {
			x := s.leaf("x", 1, 3, 4)
			a, b := s.through(x, "w0"), s.through(x, "w1")
			ra, rb := s.through(a, "w2"), s.through(b, "w3")
			return s.join(ra, rb, s.through(s.plus(a, b), "w4"))
		},
		"the other term is read later": func(s *sketch) *G.Node {
			x := s.leaf("x", 1, 3, 4)
			a, b := s.through(x, "w0"), s.through(x, "w1")
			r := s.through(s.plus(a, b), "w4")
			return s.join(s.through(a, "w2"), s.through(b, "w3"), r)
		},
		// d(p+m) is the gradient of the parameter p.
		"the term that is added is a gradient": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			r := s.through(s.plus(s.leaf("p", 1, 3, 4), m), "w1")
			return s.join(r, s.through(m, "w2"))
		},
		"the term that is added is a gradient, the other order": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			r := s.through(m, "w2")
			return s.join(r, s.through(s.plus(s.leaf("p", 1, 3, 4), m), "w1"))
		},
		// d(p+m) is a fused sum itself; to what was the gradient of p the rest of the gradient of m is added.
		"the other term is a gradient, and a fused sum": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			n := s.plus(s.leaf("p", 1, 3, 4), m)
			r := s.through(m, "w3")
			return s.join(s.through(n, "w1"), s.through(n, "w2"), r)
		},
		// "frozen" has no gradient, whose step would read the other term as well.
		// d(e+m), a term of the gradient of m, is that of e, which is an output.
		"the other term is an output": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			r := s.through(m, "w3")
			return s.join(r, s.through(s.plus(s.leaf("e", 1, 3, 4), m), "w1"))
		},
		"the other term is an output, and a fused sum": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			n := s.plus(s.leaf("e", 1, 3, 4), m)
			r := s.through(m, "w3")
			return s.join(s.through(n, "w1"), s.through(n, "w2"), r)
		},
		"the term that is added is an output": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			r := s.through(s.plus(s.leaf("e", 1, 3, 4), m), "w1")
			return s.join(r, s.through(m, "w2"))
		},
		"the term that is added is computed from the other": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			return s.plus(m, s.through(m, "frozen"))
		},
		"both terms are one": func(s *sketch) *G.Node {
			a := s.through(s.leaf("x", 1, 3, 4), "w0")
			return s.plus(a, a)
		},
		"the term that is added can't be, the other is a fused sum": func(s *sketch) *G.Node {
			m := s.through(s.leaf("x", 1, 3, 4), "w0")
			r := s.Relu(m)
			return s.join(r, s.through(m, "w1"), s.through(m, "w2"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sketch{op.NewGraph(), map[*G.Node]op.Array{}, map[string]*G.Node{}}
			y := build(s)
			targets, targetLengths := s.IntInput("targets", 1, 2), s.IntInput("target_lengths", 1)
			s.feeds[targets], s.feeds[targetLengths] = intArray([]int{1, 2}, 4, 3), intArray([]int{1}, 2)
			logits := s.Linear(y, s.leaf("out", 5, 4), nil)
			loss := s.Total(s.leaf("scale", 1), op.Share{Loss: s.CrossEntropy(logits, targets, targetLengths, 0), Weight: 1})
			spec := Spec{Loss: loss, Outputs: map[string]*G.Node{"loss": loss}}
			for _, name := range []string{"p", "w0", "w1", "w2", "w3", "w4", "out"} {
				if n := s.named[name]; n != nil {
					spec.Weights = append(spec.Weights, n)
				}
			}
			wrt := slices.Clone(spec.Weights)
			if e := s.named["e"]; e != nil {
				wrt = append(wrt, e)
			}
			grads := s.Grad(loss, wrt...)
			if len(grads) > len(spec.Weights) {
				spec.Outputs["gradient of e"] = grads[len(spec.Weights)]
			}
			spec.Grads = grads[:min(len(grads), len(spec.Weights))]
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, spec, s.feeds)
			m := r.bind(r.compile())
			r.run(m, false)
			r.compare("run", r.results(m), r.reference(), 2e-6) // at most 7 products in a row in float32
		})
	}
}
