package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func reluOf(g *Graph, in []*G.Node) *G.Node { return g.Relu(in[0]) }

func TestRelu(t *testing.T) {
	for _, shape := range [][]int{{3}, {2, 5, 61}} {
		in := []Array{floats(rng(1), shape...)}
		checkOp(t, 0, reluOf, in) // a choice, no arithmetic
		checkKernels(t, reluOf, in)
	}
}

func TestReluAtZero(t *testing.T) {
	b := newBench(t, reluOf, []Array{{Data: []float64{0, -1, 2}, Shape: []int{3}}}, nil)
	dx := b.run(t, b.grads[0])[0].Data
	if dx[0] != 0 || dx[1] != 0 || dx[2] != float32(b.weight.Data[2]) {
		t.Fatalf("gradient is %v for %v", dx, b.weight.Data)
	}
}

func TestReluInvariance(t *testing.T) {
	lengths := []int{1, 5, 40}
	checkInvariance(t, 0, reluOf, []operand{sequence(rng(2), lengths, 24)}, func(u int) int { return lengths[u] }, 7)
}

func TestReluRefuses(t *testing.T) {
	refuses(t, "integers", func(g *Graph) { g.Relu(g.IntInput("x", 2, 3)) })
}
