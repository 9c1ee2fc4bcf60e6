package op

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
)

func ctcOf(factor int) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node { return g.CTC(in[0], in[1], in[2], in[3], factor) }
}

// ctcTol: a log-softmax in float32 (6e-8 of logits of a few units in each frame), the rest in float64.
const ctcTol = 1e-6

func TestCTC(t *testing.T) {
	r := rng(71)
	checkOp(t, ctcTol, ctcOf(1), []Array{
		floats(r, 4, 9, 6), ints([]int{4}, 9, 6, 4, 3),
		ints([]int{4, 5}, 2, 2, 3, 5, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 0, 0), ints([]int{4}, 5, 2, 0, 3), // the last has no alignment
	})
	checkOp(t, ctcTol, ctcOf(4), []Array{floats(r, 2, 7, 4), ints([]int{2}, 25, 9), ints([]int{2, 3}, 1, 2, 1, 3, 0, 0), ints([]int{2}, 3, 1)})
	checkOp(t, ctcTol, ctcOf(2), []Array{floats(r, 1, 1, 3), ints([]int{1}, 1), ints([]int{1, 1}, 2), ints([]int{1}, 1)})
}

// A confident model puts nearly everything on a few classes: alpha then spans hundreds of orders of magnitude
// within a frame, and the path that counts in the end is the smallest of them for most of the way.
func TestCTCOnSharpLogits(t *testing.T) {
	r := rng(72)
	const s, v, u = 120, 12, 40
	for _, size := range []float64{1, 30, 300, 3000} {
		x := floats(r, 1, s, v)
		for i := range x.Data {
			x.Data[i] *= size
			if i%v == Blank {
				x.Data[i] += 5 * size
			}
			x.Data[i] = float64(float32(x.Data[i]))
		}
		targets := tokens(73, u, v)
		in := []Array{x, ints([]int{1}, s), {Ints: targets.Ints, Shape: []int{1, u}}, ints([]int{1}, u)}
		b := newBench(t, ctcOf(1), in, &Array{Data: []float64{1}, Shape: []int{1}})
		want, got := b.reference(t, b.out, b.grads[0]), b.run(t, b.out, b.grads[0])
		closeTo(t, fmt.Sprintf("loss at size %g", size), got[0].Data, want[0].Data, 4e-6)
		// The gradient takes differences of log probabilities, which float32 rounds to 6e-8 of their size,
		// a few sizes here, at every frame on the way.
		closeTo(t, fmt.Sprintf("gradient at size %g", size), got[1].Data, want[1].Data, 1e-5+2e-6*size)
	}
}

func TestCTCInvariance(t *testing.T) {
	lengths := []int{1, 5, 37, 80, 81, 200}
	for _, factor := range []int{2, 4, 8} {
		counts := []int{0, 3, 1, 8, 9, 13} // the second has no alignment with factors 4 and 8
		var targets []Array
		for u, n := range counts {
			targets = append(targets, tokens(uint64(u), max(n, 1), 30))
		}
		var all []operand
		s := subsampled(lengths, factor)
		all = append(all, sequence(rng(74), s, 30), lengthOperand(lengths), growing(targets...), lengthOperand(counts))
		checkInvariance(t, 0, ctcOf(factor), all, nil, 5)
	}
}

// An empty target and one without an alignment leave their neighbour as it is alone, bit for bit.
func TestCTCBadNeighbours(t *testing.T) {
	r := rng(75)
	const s, v, u = 40, 20, 13
	good := tokens(76, u, v)
	x := floats(r, 1, s, v)
	alone := newBench(t, ctcOf(1), []Array{x, ints([]int{1}, s), {Ints: good.Ints, Shape: []int{1, u}}, ints([]int{1}, u)}, &Array{Data: []float64{1}, Shape: []int{1}})
	want := alone.run(t, alone.out, alone.grads[0])
	batch := Array{Data: slices.Concat(floats(r, s, v).Data, floats(r, s, v).Data, x.Data), Shape: []int{3, s, v}}
	targets := slices.Concat(make([]int32, u), []int32{4, 4, 4}, make([]int32, u-3), good.Ints)
	b := newBench(t, ctcOf(1), []Array{batch, ints([]int{3}, 10, 4, s), ints([]int{3, u}, targets...), ints([]int{3}, 0, 3, u)}, &Array{Data: []float64{1, 1, 1}, Shape: []int{3}})
	got := b.run(t, b.out, b.grads[0])
	if got[0].Data[2] != want[0].Data[0] || !slices.Equal(got[1].Data[2*s*v:], want[1].Data) {
		t.Error("the good utterance's loss or gradient depends on its neighbours")
	}
	if got[0].Data[0] <= 0 {
		t.Errorf("the empty target's loss is %g, want more than 0", got[0].Data[0])
	}
	if got[0].Data[1] != 0 || slices.ContainsFunc(got[1].Data[s*v:2*s*v], func(v float32) bool { return v != 0 }) {
		t.Error("the utterance without an alignment has a loss or a gradient")
	}
	if slices.ContainsFunc(got[1].Data[10*v:s*v], func(v float32) bool { return v != 0 }) {
		t.Error("a padded frame has a gradient")
	}
}

func TestCTCNotFinite(t *testing.T) {
	x := floats(rng(77), 2, 5, 4)
	x.Data[3] = math.NaN()
	in := []Array{x, ints([]int{2}, 5, 5), ints([]int{2, 2}, 1, 2, 3, 3), ints([]int{2}, 2, 2)}
	b := newBench(t, ctcOf(1), in, nil)
	got := b.run(t, b.out, b.grads[0])
	if v := got[0].Data[0]; v == v {
		t.Errorf("the loss of NaN is %g", v)
	}
	if v := got[0].Data[1]; v-v != 0 {
		t.Errorf("NaN in one utterance makes the other's loss %g", v)
	}
	for i, v := range got[1].Data[5*4:] {
		if v-v != 0 {
			t.Fatalf("NaN in one utterance makes the other's gradient %g at %d", v, i)
		}
	}
}

func TestCTCInPlaceWithoutAllocation(t *testing.T) {
	in := []Array{floats(rng(78), 2, 9, 6), ints([]int{2}, 9, 7), ints([]int{2, 3}, 2, 2, 3, 5, 0, 0), ints([]int{2}, 3, 1)}
	b := newBench(t, ctcOf(1), in, nil)
	checkInPlace(t, b, b.grads[0])
	checkAllocations(t, b)
	// The tape's scratch may start at an odd float32.
	o := b.grads[0].Op().(*Op)
	want, out := b.run(t, b.grads[0])[0], Tensor{Data: make([]float32, Size(o.Out)), Shape: o.Out}
	for skip := range 4 {
		o.Run(&Env{BLAS: NewBLAS(), Scratch: nans(o.Scratch + skip)[skip:]}, out, b.run(t, Children(b.grads[0])...))
		if !slices.Equal(out.Data, want.Data) {
			t.Errorf("another result with scratch that starts %d floats later", skip)
		}
	}
}

func ctcCase(t *testing.T, name string, x []float64, s, v int, target []int32, loss float64, grad []float64, lossTol, gradTol float64) {
	t.Helper()
	u := max(len(target), 1) // a shape can't have a 0
	targets := append(slices.Clone(target), make([]int32, u-len(target))...)
	in := []Array{{Data: x, Shape: []int{1, s, v}}, ints([]int{1}, int32(s)), ints([]int{1, u}, targets...), ints([]int{1}, int32(len(target)))}
	b := newBench(t, ctcOf(1), in, &Array{Data: []float64{1}, Shape: []int{1}})
	exact, got := b.reference(t, b.out, b.grads[0]), b.run(t, b.out, b.grads[0])
	if d := math.Abs(exact[0].Data[0] - loss); !(d <= 1e-11*max(1, loss)) {
		t.Errorf("%s: the specification's loss is %.15g, want %.15g", name, exact[0].Data[0], loss)
	}
	if d := math.Abs(float64(got[0].Data[0]) - loss); !(d <= lossTol*max(1, loss)) {
		t.Errorf("%s: loss %g, want %g", name, got[0].Data[0], loss)
	}
	for i, w := range grad {
		if d := math.Abs(exact[1].Data[i] - w); !(d <= 1e-11) {
			t.Fatalf("%s: the specification's gradient %d is %.15g, want %.15g", name, i, exact[1].Data[i], w)
		}
		if d := math.Abs(float64(got[1].Data[i]) - w); !(d <= gradTol) {
			t.Fatalf("%s: gradient %d is %g, want %g (off by %.2g)", name, i, got[1].Data[i], w, d)
		}
	}
}

func TestCTCGolden(t *testing.T) {
	f := testkit.Golden(t, "ctc")
	for c := range 27 {
		name := fmt.Sprintf("case.%02d.", c)
		logits, shape, err := f.Floats(name + "logits")
		if err != nil {
			t.Fatal(err)
		}
		targets, _, err1 := f.Ints(name + "targets")
		loss, _, err2 := f.Float64s(name + "nll64")
		grad, _, err3 := f.Float64s(name + "grad64")
		for _, err := range []error{err1, err2, err3} {
			if err != nil {
				t.Fatal(err)
			}
		}
		x := make([]float64, len(logits))
		for i, v := range logits {
			x[i] = float64(v)
		}
		var target []int32
		for _, v := range targets {
			target = append(target, int32(v))
		}
		ctcCase(t, name, x, shape[0], shape[1], target, loss[0], grad, 4e-6, 3e-6) // the golden file's tolerances
	}
}

func TestCTCByHand(t *testing.T) {
	var cases []struct {
		Name   string
		Logits [][]float64
		Target []int32
		Loss   float64
		Grad   [][]float64 `json:"grad_logits"`
	}
	readJSON(t, filepath.Join(testkit.Shared(t), "cases", "numbers", "ctc.json"), &cases)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		ctcCase(t, c.Name, slices.Concat(c.Logits...), len(c.Logits), len(c.Logits[0]), c.Target, c.Loss, slices.Concat(c.Grad...), 1e-6, 1e-6)
	}
}

// The loss is 0 exactly where the data filter says that no alignment exists.
func TestCTCFeasible(t *testing.T) {
	file, err := os.Open(filepath.Join(testkit.Shared(t), "cases", "numbers", "feasible.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var c struct {
			Text       string
			X2, X4, X8 struct {
				Frames int `json:"feature_frames"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		ids := map[rune]int32{}
		var target []int32
		for _, letter := range c.Text {
			if ids[letter] == 0 {
				ids[letter] = int32(len(ids) + 2)
			}
			target = append(target, ids[letter])
		}
		for factor, least := range map[int]int{2: c.X2.Frames, 4: c.X4.Frames, 8: c.X8.Frames} {
			for n := max(0, least-2); n <= least+1; n++ {
				s := max(1, frames.Subsampled(n, factor))
				in := []Array{floats(rng(1), 1, s, 40), ints([]int{1}, int32(n)), ints([]int{1, len(target)}, target...), ints([]int{1}, int32(len(target)))}
				b := newBench(t, ctcOf(factor), in, nil)
				if loss := b.run(t, b.out)[0].Data[0]; (loss > 0) != (n >= least) || loss < 0 {
					t.Errorf("%q on %d feature frames, factor %d: loss %g, but %d frames are the least", c.Text, n, factor, loss, least)
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestCTCRefuses(t *testing.T) {
	for name, build := range map[string]func(g *Graph, n *G.Node){
		"targets of another batch": func(g *Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.IntInput("u", 3, 3), n, 4) },
		"a factor of 3":            func(g *Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.IntInput("u", 2, 3), n, 3) },
		"float targets":            func(g *Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.Input("u", 2, 3), n, 4) },
	} {
		g := NewGraph()
		build(g, g.IntInput("n", 2))
		if g.Err() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Wide arithmetic against logarithms, over the whole range.
func TestWide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a, b := -math.Exp(14*r.Float64()), -math.Exp(14*r.Float64())
		if r.IntN(3) == 0 {
			b = a + 400*(r.Float64()-0.5)
		}
		am, ax := wideExp(a)
		bm, bx := wideExp(b)
		// Logarithms of up to 1e6 have a spacing of 1e-10.
		if got, want := wideLog(wideAdd(am, ax, bm, bx)), logAdd(a, b); !(math.Abs(got-want) <= 1e-14+4e-16*math.Abs(want)) {
			t.Fatalf("e^%g + e^%g has the logarithm %.17g, want %.17g", a, b, got, want)
		}
		if got, want := wideLog(wideMul(am, ax, bm, bx)), a+b; !(math.Abs(got-want) <= 1e-14+4e-16*math.Abs(want)) {
			t.Fatalf("e^%g * e^%g has the logarithm %.17g, want %.17g", a, b, got, want)
		}
	}
	if m, x := wideMul(0, wideZero, 1, 0); m != 0 || x != wideZero {
		t.Errorf("0 * 1 is %g, %d", m, x)
	}
	if m, x := wideAdd(0, wideZero, 0.5, -7); m != 0.5 || x != -7 {
		t.Errorf("0 + a is %g, %d", m, x)
	}
}

func BenchmarkCTC(b *testing.B) {
	const s, v = 200, 100
	for _, u := range []int{20, 80} {
		r := rng(1)
		target := tokens(2, u, v)
		in := []Tensor{random(r, 1, s, v), {Ints: []int32{s}, Shape: []int{1}}, {Ints: target.Ints, Shape: []int{1, u}}, {Ints: []int32{int32(u)}, Shape: []int{1}}}
		dloss := Tensor{Data: []float32{1}, Shape: []int{1}}
		for i, run := range []func([]Type) (*Op, error){ctc(1), ctcGrad(1)} {
			operands := in
			if i == 1 {
				operands = append([]Tensor{dloss}, in...)
			}
			var types []Type
			for _, x := range operands {
				types = append(types, Type{Shape: x.Shape, Int: x.Ints != nil})
			}
			o, err := run(types)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/U=%d", o.Name, u), func(b *testing.B) {
				e, out := &Env{Scratch: make([]float32, o.Scratch)}, Tensor{Data: make([]float32, Size(o.Out)), Shape: o.Out}
				for b.Loop() {
					o.Run(e, out, operands)
				}
			})
		}
	}
}
