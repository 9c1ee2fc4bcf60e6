package engine

import (
	"fmt"
	"math"
	"testing"

	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// variant names a program of a testNet: a batch shape, and one of modes.
type variant struct {
	model.Shape
	mode string
}

// testNet is a network of package model, as package update hands one to a replica.
type testNet struct {
	config model.Config
	tables *model.Tables
}

func newTestNet(c model.Config) *testNet { return &testNet{c, model.NewTables(c.DModel)} }

func (n *testNet) Parameters() (list []Parameter) {
	for _, p := range model.Parameters(n.config) {
		list = append(list, Parameter{Name: p.Name, Shape: p.Shape, Decay: p.Decay})
	}
	return list
}

func (n *testNet) Spec(v variant) (Spec, error) {
	for _, m := range modes {
		if m.name == v.mode {
			spec, _, err := buildSpec(n.config, v.Shape, m.purpose)
			spec.Half, spec.Recompute = m.half, m.recompute
			return spec, err
		}
	}
	return Spec{}, fmt.Errorf("there is no mode %q", v.mode)
}

func (n *testNet) Start(name string, seed uint64, values []float32) {
	for _, p := range model.Parameters(n.config) {
		if p.Name == name {
			p.Init(values, seed)
		}
	}
}

func (n *testNet) Table(name string, shape tensor.Shape) []float32 {
	return n.tables.Shared(name, shape)
}
func (n *testNet) Averages() bool    { return false }
func (n *testNet) TableBytes() int64 { return n.tables.Bytes() }

func (n *testNet) Tables() [][]float32 { return n.tables.Whole() }

// window is a pass over micro-batches, of which each has contents that depend on its number alone, not on the worker.
type window struct {
	Pass[variant]
	features []float32
	ctc      []float64 // the sum of each micro-batch's losses
	first    int       // number of the first micro-batch
	fail     func(i int) error
	collect  func(i int) error
}

// deal is a window of n micro-batches of one variant, dealt to workers in turn.
func deal(v variant, n, workers int) *window {
	w := &window{features: testkit.Normal[float32](5, 100_000), ctc: make([]float64, n)}
	for i := range n {
		w.Batches = append(w.Batches, Batch[variant]{Key: v, Worker: i % workers})
	}
	w.Fill, w.Collect = w.fillInputs, w.collectOutputs
	return w
}

func (w *window) fillInputs(i int, in Inputs) error {
	if w.fail != nil {
		if err := w.fail(i); err != nil {
			return err
		}
	}
	shape := w.Batches[i].Key.Shape
	i += w.first
	copy(in.Input(model.Features).Data, w.features[101*i:])
	lengths, targetLengths := in.Input(model.Lengths).Ints, in.Input(model.TargetLengths).Ints
	targets, seeds := in.Input(model.Targets).Ints, in.Input(model.Seeds).Ints
	for b := range lengths {
		lengths[b] = int32(shape.Frames - b)
	}
	for b := range targetLengths {
		targetLengths[b] = int32(max(1, shape.Tokens-b))
	}
	for k := range targets {
		targets[k] = int32(3 + (i+k)%8)
	}
	for k := range seeds {
		seeds[k] = int32(10*i + k)
	}
	for k := range in.Input(model.Scale).Data {
		in.Input(model.Scale).Data[k] = 0.125
	}
	return nil
}

func (w *window) collectOutputs(i int, out Outputs) error {
	if w.collect != nil {
		if err := w.collect(i); err != nil {
			return err
		}
	}
	w.ctc[i] = 0
	for _, v := range out.Output("ctc").Data {
		w.ctc[i] += float64(v)
	}
	return nil
}

// crew is a crew for net on memory of its own, started from seed 1.
func crew(t testing.TB, net Network[variant], workers int, train bool) *Crew[variant] {
	t.Helper()
	c, err := NewCrew(device.NewHost(), NewLibrary(net), workers, train)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Initialize(1); err != nil {
		t.Fatal(err)
	}
	return c
}

// pass prepares and runs a window.
func pass(t testing.TB, r Replica[variant], w *window) {
	t.Helper()
	if err := r.Prepare(w.Batches, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(&w.Pass); err != nil {
		t.Fatal(err)
	}
}

// gradient runs a window on a crew and returns a copy of the sum of gradients, and the sum of its squares.
func gradient(t testing.TB, c *Crew[variant], w *window) ([]float32, float64) {
	t.Helper()
	pass(t, c, w)
	squares, err := c.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	return append([]float32(nil), floats(c.reduced.Host())...), squares
}

func equalBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}
