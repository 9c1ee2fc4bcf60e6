package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// goldens are the networks that PyTorch computed in float64, four utterances each: an ordinary one, a very short
// one, one without a text, and one with too much text for CTC. The padding of their features holds noise.
var goldens = []string{"model_f2", "model_f4", "model_f8", "model_f4_ctc_only"}

// golden is one of them, with the graph of the same network.
type golden struct {
	*testkit.Tensors
	t     *testing.T
	c     Config
	shape Shape
	net   *Network
	feeds map[*G.Node]op.Array
}

func openGolden(t *testing.T, name string) *golden {
	t.Helper()
	g := &golden{Tensors: testkit.Golden(t, name), t: t, feeds: map[*G.Node]op.Array{}}
	meta := g.Metadata()
	number := func(key string) (v float64) {
		if err := json.Unmarshal([]byte(meta[key]), &v); err != nil {
			t.Fatalf("%s: setting %s is %q", name, key, meta[key])
		}
		return v
	}
	g.c = Config{
		DModel: int(number("d_model")), Heads: int(number("heads")), EncoderLayers: int(number("encoder_layers")),
		DecoderLayers: int(number("decoder_layers")), ConvKernel: int(number("kernel")), Subsampling: int(number("subsample_factor")),
		SubsampleChannels: int(number("subsample_channels")), NumMels: int(number("features")), Vocab: int(number("vocab")),
		CTCWeight: number("ctc_weight"), LabelSmoothing: number("label_smoothing"),
	}
	_, x := g.floats("input.x")
	targets := g.ints("input.targets")
	g.shape = Shape{Batch: x[0], Frames: x[1], Tokens: len(targets) / x[0]}
	net, err := Build(g.c, g.shape, Training)
	if err != nil {
		t.Fatal(err)
	}
	g.net = net
	for _, w := range net.Weights {
		g.feed(w, "weight."+w.Name())
	}
	for _, n := range net.Graph.Inputs() {
		switch n.Name() {
		case Features:
			g.feed(n, "input.x")
		case Lengths:
			g.feeds[n] = op.Array{Ints: g.ints("input.lengths"), Shape: n.Shape()}
		case Targets:
			g.feeds[n] = op.Array{Ints: targets, Shape: n.Shape()}
		case TargetLengths:
			g.feeds[n] = op.Array{Ints: g.ints("input.target_lengths"), Shape: n.Shape()}
		case Scale:
			g.feeds[n] = op.Array{Data: []float64{1 / float64(g.shape.Batch)}, Shape: n.Shape()}
		case Positions:
			g.feeds[n] = op.Array{Data: positions(g.shape.Encoded(g.c), g.c.DModel), Shape: n.Shape()}
		case DecoderPositions:
			g.feeds[n] = op.Array{Data: steps(g.shape.Tokens+1, g.c.DModel), Shape: n.Shape()}
		}
	}
	return g
}

// positions is the table of relative positions in float64, by its formula: row c holds the sinusoid of S-1-c.
func positions(s, d int) []float64 {
	var t []float64
	for r := s - 1; r > -s; r-- {
		t = append(t, sinusoid(r, d)...)
	}
	return t
}

// steps is the table of the decoder's positions in float64: row c holds the sinusoid of c.
func steps(n, d int) []float64 {
	var t []float64
	for c := range n {
		t = append(t, sinusoid(c, d)...)
	}
	return t
}

// sinusoid is one row of a table: sines and cosines in turn (Vaswani et al. 2017, section 3.5).
func sinusoid(position, d int) []float64 {
	var row []float64
	for m := range d / 2 {
		w := float64(position) * math.Pow(10000, -2*float64(m)/float64(d))
		row = append(row, math.Sin(w), math.Cos(w))
	}
	return row
}

func (g *golden) feed(n *G.Node, name string) {
	g.t.Helper()
	v, shape := g.floats(name)
	if !slices.Equal(shape, n.Shape()) {
		g.t.Fatalf("%s has shape %v in the file, %v in the graph", name, shape, n.Shape())
	}
	g.feeds[n] = op.Array{Data: doubles(v), Shape: n.Shape()}
}

func (g *golden) floats(name string) ([]float32, []int) {
	g.t.Helper()
	v, shape, err := g.Floats(name)
	if err != nil {
		g.t.Fatal(err)
	}
	return v, shape
}

func (g *golden) ints(name string) []int32 {
	g.t.Helper()
	v, _, err := g.Ints(name)
	if err != nil {
		g.t.Fatal(err)
	}
	ints := make([]int32, len(v))
	for i, x := range v {
		ints[i] = int32(x)
	}
	return ints
}

// reference evaluates nodes by the specifications in float64.
func (g *golden) reference(nodes ...*G.Node) []op.Array {
	g.t.Helper()
	out, err := optest.Reference(g.feeds, nodes...)
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// stored is the error of what the files hold: float64 results rounded to float32.
const stored = 0x1p-24

func TestGoldenLosses(t *testing.T) {
	for _, name := range goldens {
		g := openGolden(t, name)
		nodes := map[string]*G.Node{"ctc": g.net.CTC, "total": g.net.Loss}
		if g.net.CE != nil {
			nodes["ce"] = g.net.CE
		}
		for what, n := range nodes {
			want, _, err := g.Float64s("loss64." + what)
			if err != nil {
				t.Fatal(err)
			}
			// Two float64 computations of sums of thousands of terms.
			testkit.Close(t, name+" "+what, g.reference(n)[0].Data, want, 1e-12*largest(want))
		}
	}
}

func TestGoldenActivations(t *testing.T) {
	for _, name := range goldens {
		g := openGolden(t, name)
		for _, tap := range slices.Sorted(maps.Keys(g.net.Taps)) {
			n := g.net.Taps[tap]
			want, shape := g.floats("act." + tap)
			got := channelMajor(tap, g.reference(n)[0])
			if !slices.Equal(got.Shape, shape) {
				t.Errorf("%s: %s has shape %v, want %v", name, tap, got.Shape, shape)
				continue
			}
			// The network may leave anything in the padding; the files hold 0 there.
			row := op.Size(shape[2:])
			for b := range shape[0] {
				clear(got.Data[b*shape[1]*row:][:shape[1]*row][g.rows(tap, b)*row:])
			}
			testkit.Close(t, name+" "+tap, got.Data, doubles(want), 2*stored*largest(doubles(want)))
		}
		if acts := count(g.Tensors, "act."); acts != len(g.net.Taps) {
			t.Errorf("%s has %d activations, the network %d", name, acts, len(g.net.Taps))
		}
	}
}

// rows is the number of true rows of utterance b at a tap.
func (g *golden) rows(tap string, b int) int {
	switch {
	case strings.HasPrefix(tap, "decoder."):
		return int(g.ints("input.target_lengths")[b]) + 1
	case strings.HasPrefix(tap, "encoder.subsample.stage."):
		stage := int(tap[len(tap)-1] - '0')
		return frames.Subsampled(int(g.ints("input.lengths")[b]), 2<<stage)
	}
	return int(g.ints("out.lengths")[b])
}

// channelMajor brings a stage of the subsampling, [B, T, F, C] here, into PyTorch's order [B, T, C, F].
func channelMajor(tap string, a op.Array) op.Array {
	if !strings.HasPrefix(tap, "encoder.subsample.stage.") {
		return a
	}
	n, f, c := a.Shape[0]*a.Shape[1], a.Shape[2], a.Shape[3]
	out := op.Array{Data: make([]float64, len(a.Data)), Shape: []int{a.Shape[0], a.Shape[1], c, f}}
	for i := range n {
		for j := range f {
			for k := range c {
				out.Data[(i*c+k)*f+j] = a.Data[(i*f+j)*c+k]
			}
		}
	}
	return out
}

// TestGoldenGradients covers every parameter, the features (exactly 0 on the padding) and every activation.
func TestGoldenGradients(t *testing.T) {
	for _, name := range goldens {
		g := openGolden(t, name)
		nodes := map[string]*G.Node{}
		for _, w := range g.net.Weights {
			nodes["grad."+w.Name()] = w
		}
		for tap, n := range g.net.Taps {
			nodes["actgrad."+tap] = n
		}
		for _, n := range g.net.Graph.Inputs() {
			if n.Name() == Features {
				nodes["grad.input.x"] = n
			}
		}
		names := slices.Sorted(maps.Keys(nodes))
		var wrt []*G.Node
		for _, k := range names {
			wrt = append(wrt, nodes[k])
		}
		// gorgonia.Grad itself, which takes inputs only.
		grads, err := G.Backpropagate(G.Nodes{g.net.Loss}, G.Nodes{G.NewConstant(float32(1))}, wrt)
		if err != nil {
			t.Fatal(err)
		}
		got := g.reference(grads...)
		for i, k := range names {
			want, shape := g.floats(k)
			a := channelMajor(strings.TrimPrefix(k, "actgrad."), got[i])
			if strings.HasPrefix(k, "actgrad.encoder.subsample.stage.") && largest(doubles(want)) == 0 {
				continue // PyTorch recorded a transposed copy there, on which the loss doesn't depend
			}
			if !slices.Equal(a.Shape, shape) {
				t.Errorf("%s: %s has shape %v, want %v", name, k, a.Shape, shape)
				continue
			}
			// The gradient of key biases is 0 but for rounding: 1e-15 is that of sums of terms near 1.
			testkit.Close(t, name+" "+k, a.Data, doubles(want), 2*stored*largest(doubles(want))+1e-15)
			for j, v := range want {
				if v == 0 && a.Data[j] != 0 && (k == "grad.input.x" || strings.HasPrefix(k, "actgrad.decoder")) {
					t.Errorf("%s: %s[%d] is %g, want exactly 0", name, k, j, a.Data[j])
					break
				}
			}
		}
		if n := count(g.Tensors, "grad.") + count(g.Tensors, "actgrad."); n != len(names) {
			t.Errorf("%s has %d gradients, the network %d", name, n, len(names))
		}
	}
}

// TestTape runs the graphs on Gorgonia's stock machine, with gonum's products, in float32.
func TestTape(t *testing.T) {
	for _, name := range goldens {
		g := openGolden(t, name)
		grads := g.net.Graph.Grad(g.net.Loss, g.net.Weights...)
		if err := g.net.Graph.Err(); err != nil {
			t.Fatal(err)
		}
		want := g.reference(append(slices.Clone(grads), g.net.Loss)...)
		for n, a := range g.feeds {
			var backing any = a.Ints
			if a.Ints == nil {
				f := make([]float32, len(a.Data))
				for i, v := range a.Data {
					f[i] = float32(v)
				}
				backing = f
			}
			if err := G.Let(n, tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(backing))); err != nil {
				t.Fatal(err)
			}
		}
		m := G.NewTapeMachine(g.net.Graph.ExprGraph)
		if err := m.RunAll(); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		most := 0.0
		for _, a := range want[:len(grads)] {
			most = max(most, largest(a.Data))
		}
		for i, n := range append(slices.Clone(grads), g.net.Loss) {
			v, err := op.FromValue(n.Value())
			if err != nil {
				t.Fatal(err)
			}
			what, size := "loss", largest(want[i].Data)
			if i < len(grads) {
				what, size = "gradient of "+g.net.Weights[i].Name(), most
			}
			// Float32 in another order of sums: ten times what PyTorch's own float32 run is off by.
			testkit.Close(t, fmt.Sprintf("%s on the tape: %s", name, what), doubles(v.Data), want[i].Data, 1e-5*size)
		}
	}
}

func largest(x []float64) float64 { return testkit.MaxAbs(x, make([]float64, len(x))) }

func doubles(x []float32) []float64 {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = float64(v)
	}
	return d
}

// count is the number of tensors whose names start with prefix.
func count(f *testkit.Tensors, prefix string) int {
	n := 0
	for _, name := range f.Names() {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}
