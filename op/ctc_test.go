package op_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// A confident model puts nearly everything on a few classes: alpha then spans hundreds of orders of magnitude
// within a frame, and the path that counts in the end is the smallest of them for most of the way.
func TestCTCOnSharpLogits(t *testing.T) {
	r := optest.Rand(72)
	const s, v, u = 120, 12, 40
	for _, size := range []float64{1, 30, 300, 3000} {
		x := optest.Floats(r, 1, s, v)
		for i := range x.Data {
			x.Data[i] *= size
			if i%v == op.Blank {
				x.Data[i] += 5 * size
			}
			x.Data[i] = float64(float32(x.Data[i]))
		}
		targets := optest.Tokens(73, u, v)
		in := []op.Array{x, optest.Lengths(s), {Ints: targets.Ints, Shape: []int{1, u}}, optest.Lengths(u)}
		b := newRig(t, optest.BuildCTC(1, 0), in, &op.Array{Data: []float64{1}, Shape: []int{1}})
		want, got := reference(t, b, b.Out, b.Grads[0]), run(t, b, b.Out, b.Grads[0])
		closeTo(t, fmt.Sprintf("loss at size %g", size), got[0].Data, want[0].Data, 4e-6)
		// The gradient takes differences of log probabilities, which float32 rounds to 6e-8 of their size,
		// a few sizes here, at every frame on the way.
		closeTo(t, fmt.Sprintf("gradient at size %g", size), got[1].Data, want[1].Data, 1e-5+2e-6*size)
	}
}

// An empty target and one without an alignment leave their neighbor as it is alone, bit for bit.
func TestCTCBadNeighbors(t *testing.T) {
	r := optest.Rand(75)
	const s, v, u = 40, 20, 13
	good := optest.Tokens(76, u, v)
	x := optest.Floats(r, 1, s, v)
	alone := newRig(t, optest.BuildCTC(1, 0), []op.Array{x, optest.Lengths(s), {Ints: good.Ints, Shape: []int{1, u}}, optest.Lengths(u)}, &op.Array{Data: []float64{1}, Shape: []int{1}})
	want := run(t, alone, alone.Out, alone.Grads[0])
	batch := op.Array{Data: slices.Concat(optest.Floats(r, s, v).Data, optest.Floats(r, s, v).Data, x.Data), Shape: []int{3, s, v}}
	targets := slices.Concat(make([]int32, u), []int32{4, 4, 4}, make([]int32, u-3), good.Ints)
	b := newRig(t, optest.BuildCTC(1, 0), []op.Array{batch, optest.Lengths(10, 4, s), optest.Ints([]int{3, u}, targets...), optest.Lengths(0, 3, u)}, &op.Array{Data: []float64{1, 1, 1}, Shape: []int{3}})
	got := run(t, b, b.Out, b.Grads[0])
	if got[0].Data[2] != want[0].Data[0] || !slices.Equal(got[1].Data[2*s*v:], want[1].Data) {
		t.Error("the good utterance's loss or gradient depends on its neighbors")
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
	x := optest.Floats(optest.Rand(77), 2, 5, 4)
	x.Data[3] = math.NaN()
	in := []op.Array{x, optest.Lengths(5, 5), optest.Ints([]int{2, 2}, 1, 2, 3, 3), optest.Lengths(2, 2)}
	b := newRig(t, optest.BuildCTC(1, 0), in, nil)
	got := run(t, b, b.Out, b.Grads[0])
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

func ctcCase(t *testing.T, name string, x []float64, s, v int, target []int32, loss float64, grad []float64, lossTol, gradTol float64) {
	t.Helper()
	u := max(len(target), 1) // a shape can't have a 0
	targets := append(slices.Clone(target), make([]int32, u-len(target))...)
	in := []op.Array{{Data: x, Shape: []int{1, s, v}}, optest.Lengths(int32(s)), optest.Ints([]int{1, u}, targets...), optest.Lengths(int32(len(target)))}
	b := newRig(t, optest.BuildCTC(1, 0), in, &op.Array{Data: []float64{1}, Shape: []int{1}})
	exact, got := reference(t, b, b.Out, b.Grads[0]), run(t, b, b.Out, b.Grads[0])
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
				in := []op.Array{optest.Floats(optest.Rand(1), 1, s, 40), optest.Lengths(int32(n)), optest.Ints([]int{1, len(target)}, target...), optest.Lengths(int32(len(target)))}
				b := newRig(t, optest.BuildCTC(factor, 0), in, nil)
				if loss := run(t, b, b.Out)[0].Data[0]; (loss > 0) != (n >= least) || loss < 0 {
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
	for name, build := range map[string]func(g *op.Graph, n *G.Node){
		"targets of another batch": func(g *op.Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.IntInput("u", 3, 3), n, 4, 0) },
		"a factor of 3":            func(g *op.Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.IntInput("u", 2, 3), n, 3, 0) },
		"a smoothing of 1":         func(g *op.Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.IntInput("u", 2, 3), n, 4, 1) },
		"a smoothing below 0":      func(g *op.Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.IntInput("u", 2, 3), n, 4, -0.1) },
		"float targets":            func(g *op.Graph, n *G.Node) { g.CTC(g.Input("x", 2, 3, 5), n, g.Input("u", 2, 3), n, 4, 0) },
	} {
		g := op.NewGraph()
		build(g, g.IntInput("n", 2))
		if g.Err() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// By hand: with smoothing e the loss is 1-e of the likelihood's and e of each true frame's cross-entropy with the
// uniform distribution, and where all classes are alike the gradient has nothing of smoothing.
func TestCTCSmoothingByHand(t *testing.T) {
	const e, v = 0.25, 3
	// Two frames of which one is true: the target has one alignment with it.
	x := op.Array{Data: []float64{1, 2, 4, 100, -100, 0}, Shape: []int{1, 2, v}}
	in := []op.Array{x, optest.Lengths(1), optest.Ints([]int{1, 1}, 2), optest.Lengths(1)}
	r := newRig(t, optest.BuildCTC(1, e), in, &op.Array{Data: []float64{1}, Shape: []int{1}})
	got := run(t, r, r.Out, r.Grads[0])
	sum := math.Exp(1) + math.Exp(2) + math.Exp(4)
	log := math.Log(sum)
	loss := (1-e)*(log-4) + e*(3*log-7)/v
	if d := math.Abs(float64(got[0].Data[0]) - loss); !(d <= 1e-6) {
		t.Errorf("the loss is %g, want %g", got[0].Data[0], loss)
	}
	// Differences of probabilities near 1, which float32 rounds to 6e-8, and of which 0.07 is left.
	closeTo(t, "gradient", got[1].Data, []float64{math.Exp(1)/sum - e/v, math.Exp(2)/sum - e/v, math.Exp(4)/sum - (1 - e) - e/v, 0, 0, 0}, 2e-6)
	in[0] = op.Array{Data: make([]float64, 2*v), Shape: []int{1, 2, v}}
	in[1] = optest.Lengths(2)
	r = newRig(t, optest.BuildCTC(1, e), in, &op.Array{Data: []float64{1}, Shape: []int{1}})
	plain := newRig(t, optest.BuildCTC(1, 0), in, &op.Array{Data: []float64{1 - e}, Shape: []int{1}})
	closeTo(t, "gradient of equal classes", run(t, r, r.Grads[0])[0].Data, optest.NewArray(run(t, plain, plain.Grads[0])[0]).Data, 3e-7) // two roundings of float32
}
