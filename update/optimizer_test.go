package update

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
)

func TestLearningRateFollowsTheSchedule(t *testing.T) {
	var example struct {
		Warmup int                `json:"warmup"`
		Ratio  map[string]float64 `json:"ratio_to_peak"`
	}
	numbers(t, "schedule.json", &example)
	for key, want := range example.Ratio {
		update, err := strconv.Atoi(key)
		if err != nil {
			t.Fatal(err)
		}
		if got := noam(2, example.Warmup)(update) / 2; !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("update %d: %v of the peak, want %v", update, got, want)
		}
	}
}

// The rate belongs to the number of the update, also where an earlier run is gone on with.
func TestLearningRateCountsUpdates(t *testing.T) {
	net := tinyNetwork(4, 0)
	crew := newCrew(t, net, 1)
	o := options
	o.Rate = noam(0.02, 3)
	window := windowOfFour(net)[:2]
	for _, from := range []int{0, 7} {
		u := New(net, crew, o)
		u.Updates = from
		for number := from + 1; number < from+6; number++ {
			mustUpdate(t, u, window)
			want := 0.02 * min(float64(number)/3, math.Sqrt(3/float64(number)))
			if !(math.Abs(u.LR-want) <= 1e-15) || u.Updates != number {
				t.Errorf("update %d, counted as %d: rate %v, want %v", number, u.Updates, u.LR, want)
			}
		}
	}
}

func TestClipScale(t *testing.T) {
	// The 1e-6 beside the norm takes a ten-millionth away.
	if s := ClipScale(10, 5); !(math.Abs(s-0.5) <= 1e-7) || s >= 0.5 {
		t.Errorf("a norm of 10 is scaled by %v for a limit of 5", s)
	}
	if s := ClipScale(4, 5); s != 1 {
		t.Errorf("a gradient below the limit is scaled by %v", s)
	}
}

// An update clips: from moments of 0, they are the gradient's direction at the length of the limit.
func TestUpdateClips(t *testing.T) {
	net := tinyNetwork(4, 1)
	free, clipped := newRig(t, net, 2), newRig(t, net, 2)
	o := options
	norm := mustUpdate(t, New(net, free.Replica, o), windowOfFour(net)).Norm
	o.GradClip = norm / 4
	if again := mustUpdate(t, New(net, clipped.Replica, o), windowOfFour(net)).Norm; again != norm {
		t.Errorf("the norm is %v before clipping, and %v without", again, norm)
	}
	full, got := free.all(engine.FirstMoments), clipped.all(engine.FirstMoments)
	sum := 0.0
	for i, m := range full {
		sum += float64(m) * float64(m)
		full[i] = m * float32(ClipScale(norm, norm/4))
	}
	// The gradient, its sum of squares and the moments are rounded to float32.
	if length := math.Sqrt(sum) / (1 - engine.Beta1); !(math.Abs(length/norm-1) <= 1e-6) {
		t.Errorf("the norm is said to be %v, and is %v", norm, length)
	}
	testkit.CloseRel(t, "clipped gradient", got, full, 1e-6)
}

// linear is a network for the optimizer alone: the loss is the sum over its parameters of their products with an input
// each, so that the gradient is whatever is fed.
type linear struct{ params []engine.Parameter }

func (l linear) Parameters() []engine.Parameter             { return l.params }
func (l linear) Start(_ string, _ uint64, values []float32) { clear(values) }
func (l linear) Table(_ string, _ tensor.Shape) []float32   { return nil }
func (l linear) Averages() bool                             { return false }
func (l linear) TableBytes() int64                          { return 0 }
func (l linear) Tables() [][]float32                        { return nil }
func (l linear) Spec(int) (engine.Spec, error) {
	g := op.NewGraph()
	s := engine.Spec{Outputs: map[string]*G.Node{}}
	var sum *G.Node
	for _, p := range l.params {
		w := g.Input(p.Name, p.Shape...)
		y := g.Linear(g.Input("gradient of "+p.Name, p.Shape[1]), w, nil)
		if sum != nil {
			y = g.Residual(sum, 1, y, nil, op.Drop{})
		}
		s.Weights, sum = append(s.Weights, w), y
	}
	s.Loss = g.Total(g.Input("scale", 1), op.Share{Loss: sum, Weight: 1})
	s.Grads = g.Grad(s.Loss, s.Weights...)
	return s, g.Err()
}

// bench is a crew that updates parameters by gradients that a test gives.
type bench struct {
	*engine.Crew[int]
	t      *testing.T
	params []engine.Parameter
}

func newBench(t *testing.T, params ...engine.Parameter) *bench {
	t.Helper()
	c, err := engine.NewCrew(device.NewHost(), engine.NewLibrary(linear{params}), 2, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &bench{c, t, params}
}

// feed makes a pass with the gradients given, and returns their norm.
func (b *bench) feed(grads map[string][]float32) float64 {
	b.t.Helper()
	p := &engine.Pass[int]{Batches: []engine.Batch[int]{{}}, Collect: func(int, engine.Outputs) error { return nil }}
	p.Fill = func(_ int, in engine.Inputs) error {
		in.Input("scale").Data[0] = 1
		for name, g := range grads {
			if copy(in.Input("gradient of "+name).Data, g) != len(g) {
				return fmt.Errorf("%s has another size", name)
			}
		}
		return nil
	}
	squares, err := 0.0, errors.Join(b.Prepare(p.Batches, 0), b.Run(p))
	if err == nil {
		squares, err = b.Reduce()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return math.Sqrt(squares)
}

func (b *bench) set(name string, values []float32) {
	b.t.Helper()
	var buffer bytes.Buffer
	if err := errors.Join(binary.Write(&buffer, binary.LittleEndian, values), b.Import(engine.Weights, name, &buffer)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(of engine.Flat, name string, n int) []float64 {
	b.t.Helper()
	var buffer bytes.Buffer
	values := make([]float32, n)
	if err := errors.Join(b.Export(of, name, &buffer), binary.Read(&buffer, binary.LittleEndian, values)); err != nil {
		b.t.Fatal(err)
	}
	return doubles(values)
}

func doubles(x []float32) []float64 {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = float64(v)
	}
	return d
}

func singles(x []float64) []float32 {
	s := make([]float32, len(x))
	for i, v := range x {
		s[i] = float32(v)
	}
	return s
}

func TestAdamWByHand(t *testing.T) {
	type step struct{ Grad, M, V, W float64 }
	var example struct {
		LR            float64
		DecayedWeight []step `json:"decayed_weight"`
		Bias          []step
	}
	numbers(t, "adamw.json", &example)
	b := newBench(t, engine.Parameter{Name: "x.weight", Shape: tensor.Shape{1, 1}, Decay: true}, engine.Parameter{Name: "x.bias", Shape: tensor.Shape{1, 1}})
	b.set("x.weight", []float32{1})
	b.set("x.bias", []float32{1})
	for k := range example.Bias {
		lines := map[string]step{"x.weight": example.DecayedWeight[k], "x.bias": example.Bias[k]}
		b.feed(map[string][]float32{"x.weight": {float32(lines["x.weight"].Grad)}, "x.bias": {float32(lines["x.bias"].Grad)}})
		if err := b.Update(engine.AdamW{Number: k + 1, LR: example.LR, GradScale: 1, Decay: 1e-3}); err != nil {
			t.Fatal(err)
		}
		for name, s := range lines {
			got := slices.Concat(b.get(engine.Weights, name, 1), b.get(engine.FirstMoments, name, 1), b.get(engine.SecondMoments, name, 1))
			// Three roundings of float32 near 1.
			testkit.Close(t, fmt.Sprintf("update %d of %s: weight, m, v", k+1, name), got, []float64{s.W, s.M, s.V}, 2e-7)
		}
	}
}

// Ten updates of the PyTorch reference, clipped and not.
func TestUpdatesAreTheReferences(t *testing.T) {
	f := testkit.Golden(t, "optimizer")
	read := func(name string) []float64 {
		v, _, err := f.Float64s(name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	set := func(key string) (v float64) {
		if err := json.Unmarshal([]byte(f.Metadata()[key]), &v); err != nil {
			t.Fatalf("%s: %v in %v", key, err, f.Metadata())
		}
		return v
	}
	params := goldenParameters(t, f)
	b := newBench(t, params...)
	for _, p := range params {
		b.set(p.Name, singles(read("start."+p.Name)))
	}
	norms, clips, rates := read("norm"), read("clip_scale"), read("lr")
	for k := range norms {
		grads := map[string][]float32{}
		for _, p := range params {
			grads[p.Name] = singles(read(fmt.Sprintf("update.%02d.grad.%s", k+1, p.Name)))
		}
		norm := b.feed(grads)
		clip, rate := ClipScale(norm, set("clip")), noam(set("peak"), int(set("warmup")))(k+1)
		testkit.Close(t, "norm, clip, rate", []float64{norm / norms[k], clip, rate}, []float64{1, clips[k], rates[k]}, 1e-6)
		if err := b.Update(engine.AdamW{Number: k + 1, LR: rate, GradScale: clip, Decay: set("weight_decay")}); err != nil {
			t.Fatal(err)
		}
		for _, p := range params {
			for what, of := range map[string]engine.Flat{"weight": engine.Weights, "m": engine.FirstMoments, "v": engine.SecondMoments} {
				want := read(fmt.Sprintf("update.%02d.%s.%s", k+1, what, p.Name))
				// Ten updates of up to 0.3 each on values near 1.
				testkit.Close(t, fmt.Sprintf("update %d: %s of %s", k+1, what, p.Name), b.get(of, p.Name, len(want)), want, 1e-5)
			}
		}
	}
}

// goldenParameters are those of the file, each as one row; decay follows from their names, as in the network.
func goldenParameters(t testing.TB, f *testkit.Tensors) []engine.Parameter {
	t.Helper()
	known := model.Parameters(tinyNetwork(4, 1))
	var params []engine.Parameter
	for _, name := range f.Names() {
		name, ok := strings.CutPrefix(name, "start.")
		if !ok {
			continue
		}
		info, _ := f.Info("start." + name)
		at := slices.IndexFunc(known, func(p model.Parameter) bool { return p.Name == name })
		if at < 0 {
			t.Fatalf("the network has no parameter %s", name)
		}
		params = append(params, engine.Parameter{Name: name, Shape: tensor.Shape{1, tensor.Shape(info.Shape).TotalSize()}, Decay: known[at].Decay})
	}
	if len(params) != 5 {
		t.Fatalf("%d parameters in the file, want 5", len(params))
	}
	return params
}
