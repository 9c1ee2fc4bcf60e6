package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func channelMajorOf(g *Graph, in []*G.Node) *G.Node { return g.ChannelMajor(in[0]) }

func TestChannelMajor(t *testing.T) {
	for _, shape := range [][]int{{1, 1, 1, 1}, {2, 3, 5, 7}, {1, 4, 20, 64}} {
		in := []Array{floats(rng(1), shape...)}
		checkOp(t, 0, channelMajorOf, in) // moves only
		checkKernels(t, channelMajorOf, in)
	}
}

func TestChannelMajorOrder(t *testing.T) {
	in := Array{Data: []float64{0, 1, 2, 3, 4, 5}, Shape: []int{1, 1, 3, 2}} // x[f][c] = 2f+c
	b := newBench(t, channelMajorOf, []Array{in}, nil)
	closeTo(t, "y[c*F+f]", b.run(t, b.out)[0].Data, []float64{0, 2, 4, 1, 3, 5}, 0)
}

func TestChannelMajorInvariance(t *testing.T) {
	lengths := []int{1, 5, 40}
	checkInvariance(t, 0, channelMajorOf, []operand{sequence(rng(2), lengths, 3, 8)}, func(u int) int { return lengths[u] }, 7)
}

func TestChannelMajorRefuses(t *testing.T) {
	refuses(t, "three dimensions", func(g *Graph) { g.ChannelMajor(g.Input("x", 2, 3, 4)) })
}

func BenchmarkChannelMajor(b *testing.B) {
	benchmark(b, channelMajorOf, []Array{floats(rng(1), 1, 200, 20, 64)}) // 8 s of audio
}
