package model

import (
	"math"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// TestFiniteDifferences holds the gradient of the whole network, with dropout and with padding in the batch, to
// central differences of the loss in a random direction of every parameter.
func TestFiniteDifferences(t *testing.T) {
	for _, c := range []Config{
		{DModel: 8, Heads: 2, EncoderLayers: 1, DecoderLayers: 1, ConvKernel: 3, Subsampling: 4, SubsampleChannels: 4, NumMels: 6, Vocab: 6, Dropout: 0.2, CTCWeight: 0.4, LabelSmoothing: 0.1},
		{DModel: 6, Heads: 3, EncoderLayers: 2, ConvKernel: 5, Subsampling: 2, SubsampleChannels: 3, NumMels: 5, Vocab: 5, Dropout: 0.1},
		regularized(Config{DModel: 6, Heads: 2, EncoderLayers: 2, DecoderLayers: 1, ConvKernel: 3, Subsampling: 2, SubsampleChannels: 3, NumMels: 5, Vocab: 5, Dropout: 0.1, CTCWeight: 0.4, LabelSmoothing: 0.1}),
	} {
		batch := 2
		if c.StochasticDepth > 0 {
			batch = 4 // so that each branch is kept for some utterance
		}
		net, feeds := randomNetwork(t, c, Shape{Batch: batch, Frames: 17, Tokens: 3})
		grads := net.Graph.Grad(net.Loss, net.Weights...)
		if err := net.Graph.Err(); err != nil {
			t.Fatal(err)
		}
		loss := func() float64 {
			a, err := optest.Reference(feeds, net.Loss)
			if err != nil {
				t.Fatal(err)
			}
			return a[0].Data[0]
		}
		analytic, err := optest.Reference(feeds, grads...)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range net.Weights {
			start := feeds[w]
			dir := testkit.Normal[float64](uint64(i)+1, len(start.Data))
			want, norm := 0.0, 0.0
			for k, g := range analytic[i].Data {
				want += g * dir[k]
				norm += g * g
			}
			// Where every ReLU is off there is nothing to compare. The true gradient of a key's bias is 0.
			if dead := math.Sqrt(norm) < 1e-3; dead != strings.HasSuffix(w.Name(), ".key.bias") {
				t.Errorf("%s: the gradient's norm is %.2g", w.Name(), math.Sqrt(norm))
			}
			moved := op.Array{Data: make([]float64, len(start.Data)), Shape: start.Shape}
			feeds[w] = moved
			// A small step, so that no ReLU changes sides on the way; extrapolation makes up for its size.
			got := testkit.Slope(func(x []float64) float64 {
				copy(moved.Data, x)
				return loss()
			}, start.Data, dir, 1e-5)
			feeds[w] = start
			// The roundings of a loss near 10, some 1e-15, divided by the step, are up to 4e-10; norms of gradients are
			// 5e-3 to 3.
			if !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("%s: finite differences give %.10g, the gradient %.10g", w.Name(), got, want)
			}
		}
	}
}

// randomNetwork is a network for training with random weights and a batch of utterances of different lengths.
func randomNetwork(t *testing.T, c Config, shape Shape) (*Network, map[*G.Node]op.Array) {
	t.Helper()
	net, err := Build(c, shape, Training)
	if err != nil {
		t.Fatal(err)
	}
	r := testkit.Rand(11)
	normal := func(n *G.Node, mean, scale float64) op.Array {
		a := op.Array{Data: make([]float64, op.Size(n.Shape())), Shape: n.Shape()}
		for i := range a.Data {
			a.Data[i] = mean + scale*r.NormFloat64()
		}
		return a
	}
	feeds := map[*G.Node]op.Array{}
	for i, p := range Parameters(c) {
		mean := 0.0
		if p.start == ones {
			mean = 1
		}
		feeds[net.Weights[i]] = normal(net.Weights[i], mean, 0.3)
	}
	for _, n := range net.Graph.Inputs() {
		if _, weight := feeds[n]; weight {
			continue
		}
		a := op.Array{Shape: n.Shape()}
		switch n.Name() {
		case Features:
			a = normal(n, 0, 1)
		case Scale:
			a.Data = []float64{0.5}
		case Positions:
			a.Data = positions(shape.Encoded(c), c.DModel)
		case DecoderPositions:
			a.Data = steps(shape.Tokens+1, c.DModel)
		default:
			a.Ints = make([]int32, op.Size(n.Shape()))
			for i := range a.Ints {
				switch n.Name() {
				case Lengths:
					a.Ints[i] = int32(max(shape.Frames-5*i, 7))
				case TargetLengths:
					a.Ints[i] = int32(max(shape.Tokens-i, 1))
				case Targets:
					a.Ints[i] = int32(2 + r.IntN(c.Vocab-2))
				case Seeds:
					a.Ints[i] = r.Int32()
				}
			}
		}
		feeds[n] = a
	}
	return net, feeds
}
