package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Share is a loss [B] of each utterance, and what it counts in [Graph.Total].
type Share struct {
	Loss   *G.Node
	Weight float64
}

// mostShares is how many losses Total adds up at most.
const mostShares = 3

// Total is the scalar loss: a sum over utterances of one to three losses, times a scale that the trainer feeds: 1 over
// the number of utterances in the whole accumulation window, and the loss scale of half precision.
//
//	losses l_i [B] with weights w_i, scale [1] -> loss = scale * sum_b sum_i w_i*l_ib
//	dl_ib = dloss*scale*w_i
//
// scale has no gradient.
func (g *Graph) Total(scale *G.Node, losses ...Share) *G.Node {
	var weights []float64
	var nodes []*G.Node
	for _, l := range losses {
		weights, nodes = append(weights, l.Weight), append(nodes, l.Loss)
	}
	return g.add(newTotal(weights), append(nodes, scale)...)
}

// total sums the losses with a weight each; the scale is the last operand. totalGrad is for one of them.
type (
	total struct {
		weights []float64
		batch   int // utterances
	}
	totalGrad struct {
		weight float64
		n      int // utterances
	}
)

func newTotal(weights []float64) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		n := len(weights)
		ok := n >= 1 && n <= mostShares && in[0].Shape.Dims() == 1 && isVector(in[n], 1)
		for _, t := range in[:n] {
			ok = ok && isVector(t, in[0].Elements())
		}
		if !ok {
			return nil, want("total", "[B] for each of 1 to 3 losses, [1]", in)
		}
		wrt := make([]bool, len(in))
		for i := range n {
			wrt[i] = true
		}
		return &Op{
			Name: "total", Params: fmt.Sprintf("weights=%v", weights), Out: Type{Shape: tensor.ScalarShape()},
			FLOPs: 2 * float64(n*in[0].Elements()), family: total{weights, in[0].Elements()},
			wrt: wrt,
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				grads := make(G.Nodes, len(in))
				for i, w := range weights {
					grads[i] = g.add(newTotalGrad(w, Size(in[0].Shape())), dy, in[n])
				}
				return grads
			},
		}, nil
	}
}

// newTotalGrad is one loss's gradient, the same for each of n utterances: dloss [], scale [1] -> [n].
func newTotalGrad(weight float64, n int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "total.grad", Params: fmt.Sprintf("weight=%v", weight), Out: Type{Shape: []int{n}}, FLOPs: 2,
			family: totalGrad{weight, n},
		}, nil
	}
}
