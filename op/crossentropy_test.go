package op_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// Padding has the gradient 0, not -0.
func TestCrossEntropyGradientOfPadding(t *testing.T) {
	in := []op.Array{optest.Floats(optest.Rand(53), 2, 4, 9), optest.Ints([]int{2, 3}, 3, 3, 2, 6, 0, 0), optest.Lengths(3, 1)}
	b := newRig(t, optest.BuildCrossEntropy(0.1), in, nil)
	grad := run(t, b, b.Grads[0])[0].Data
	for i, v := range grad[6*9:] {
		if v != 0 || math.Signbit(float64(v)) {
			t.Fatalf("gradient of padding, element %d, is %g", i, v)
		}
	}
}

func TestCrossEntropyHugeLogits(t *testing.T) {
	in := []op.Array{{Data: []float64{60000, -60000, 0, 0, 60000, 0}, Shape: []int{1, 2, 3}}, optest.Ints([]int{1, 1}, 1), optest.Lengths(1)}
	b := newRig(t, optest.BuildCrossEntropy(0), in, nil)
	if got := run(t, b, b.Out)[0].Data[0]; got != 120000 {
		t.Errorf("the loss is %g, want 120000", got)
	}
	// An offset common to a row's logits changes nothing.
	in[0] = op.Array{Data: []float64{60000, 60000, 60000, -60000, -60000, -60000}, Shape: []int{1, 2, 3}}
	b = newRig(t, optest.BuildCrossEntropy(0), in, nil)
	closeTo(t, "loss of equal logits", run(t, b, b.Out)[0].Data, []float64{2 * math.Log(3)}, 1e-7)
}

func TestCrossEntropyGolden(t *testing.T) {
	f := testkit.Golden(t, "ce")
	for c := range 7 {
		name := fmt.Sprintf("case.%d.", c)
		logits, shape, err := f.Floats(name + "logits")
		if err != nil {
			t.Fatal(err)
		}
		targets, _, err1 := f.Ints(name + "targets")
		smoothing, _, err2 := f.Float64s(name + "smoothing")
		sum, _, err3 := f.Float64s(name + "sum64")
		grad, _, err4 := f.Floats(name + "grad")
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil {
				t.Fatal(err)
			}
		}
		// The op's last token is always the end; the file's may be any: the classes are renamed by swapping two
		// columns.
		l, v := shape[0], shape[1]
		swap := func(class int) int {
			switch class {
			case op.SosEos:
				return int(targets[l-1])
			case int(targets[l-1]):
				return op.SosEos
			}
			return class
		}
		x, want := make([]float64, l*v), make([]float64, l*v)
		for i := range x {
			to := i/v*v + swap(i%v)
			x[to], want[to] = float64(logits[i]), float64(grad[i])
		}
		u := op.Array{Ints: make([]int32, max(l-1, 1)), Shape: []int{1, l - 1}}
		for i := range l - 1 {
			u.Ints[i] = int32(swap(int(targets[i])))
		}
		if l == 1 { // the shape [1, 0] can't be had: one token of padding, one step of padding
			x, want = append(x, make([]float64, v)...), append(want, make([]float64, v)...)
			u.Shape = []int{1, 1}
		}
		in := []op.Array{{Data: x, Shape: []int{1, len(x) / v, v}}, u, optest.Lengths(int32(l - 1))}
		b := newRig(t, optest.BuildCrossEntropy(smoothing[0]), in, &op.Array{Data: []float64{1}, Shape: []int{1}})
		got := run(t, b, b.Out, b.Grads[0])
		closeTo(t, name+"sum", got[0].Data, sum, 1e-6) // the golden file's tolerances
		closeTo(t, name+"grad", got[1].Data, want, 1e-5)
	}
}

func TestCrossEntropyByHand(t *testing.T) {
	var c struct {
		Logits [][]float64 `json:"logits"`
		Target []int32     `json:"target"`
		Plain  float64     `json:"loss_smoothing_0"`
		Smooth float64     `json:"loss_smoothing_0_1"`
	}
	readJSON(t, filepath.Join(testkit.Shared(t), "cases", "numbers", "cross_entropy.json"), &c)
	n := len(c.Target) - 1
	if c.Target[n] != op.SosEos {
		t.Fatalf("the case ends with token %d", c.Target[n])
	}
	var x []float64
	for _, row := range c.Logits {
		x = append(x, row...)
	}
	in := []op.Array{{Data: x, Shape: []int{1, n + 1, len(x) / (n + 1)}}, optest.Ints([]int{1, n}, c.Target[:n]...), optest.Lengths(int32(n))}
	for smoothing, want := range map[float64]float64{0: c.Plain, 0.1: c.Smooth} {
		b := newRig(t, optest.BuildCrossEntropy(smoothing), in, nil)
		closeTo(t, "loss", run(t, b, b.Out)[0].Data, []float64{want}, 1e-6)
		if got := reference(t, b, b.Out)[0].Data[0]; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("the specification gives %.15g, want %.15g", got, want)
		}
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestCrossEntropyRefuses(t *testing.T) {
	for name, build := range map[string]func(g *op.Graph, n *G.Node){
		"as many tokens as steps": func(g *op.Graph, n *G.Node) { g.CrossEntropy(g.Input("x", 2, 3, 5), g.IntInput("u", 2, 3), n, 0) },
		"smoothing of 1":          func(g *op.Graph, n *G.Node) { g.CrossEntropy(g.Input("x", 2, 3, 5), g.IntInput("u", 2, 2), n, 1) },
		"one class":               func(g *op.Graph, n *G.Node) { g.CrossEntropy(g.Input("x", 2, 3, 1), g.IntInput("u", 2, 2), n, 0) },
	} {
		g := op.NewGraph()
		build(g, g.IntInput("n", 2))
		if g.Err() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
