package op

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
)

func crossEntropyOf(smoothing float64) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node { return g.CrossEntropy(in[0], in[1], in[2], smoothing) }
}

func TestCrossEntropy(t *testing.T) {
	r := rng(51)
	for _, e := range []float64{0, 0.1} {
		// A float32 log-softmax of a few units, summed in float64.
		checkOp(t, 1e-6, crossEntropyOf(e), []Array{floats(r, 3, 5, 7), ints([]int{3, 4}, 3, 3, 2, 6, 5, 0, 0, 0, 0, 0, 0, 0), ints([]int{3}, 4, 1, 0)})
		checkOp(t, 1e-6, crossEntropyOf(e), []Array{floats(r, 1, 2, 2), ints([]int{1, 1}, 1), ints([]int{1}, 1)})
	}
}

// tokens are n ids from 2 on, below v.
func tokens(seed uint64, n, v int) Array {
	r := rng(seed)
	a := Array{Ints: make([]int32, n), Shape: []int{n}}
	for i := range a.Ints {
		a.Ints[i] = int32(2 + r.IntN(v-2))
	}
	return a
}

func TestCrossEntropyInvariance(t *testing.T) {
	lengths := []int{1, 3, 13, 80, 81}
	var steps []int
	var targets []Array
	for u, n := range lengths {
		steps = append(steps, n+1)
		targets = append(targets, tokens(uint64(u), n, 20))
	}
	ops := []operand{sequence(rng(52), steps, 20), growing(targets...), lengthOperand(lengths)}
	checkInvariance(t, 0, crossEntropyOf(0.1), ops, nil, 4)
}

func TestCrossEntropyInPlaceWithoutAllocation(t *testing.T) {
	in := []Array{floats(rng(53), 2, 4, 9), ints([]int{2, 3}, 3, 3, 2, 6, 0, 0), ints([]int{2}, 3, 1)}
	b := newBench(t, crossEntropyOf(0.1), in, nil)
	checkInPlace(t, b, b.grads[0])
	checkAllocations(t, b)
	grad := b.run(t, b.grads[0])[0].Data
	for i, v := range grad[6*9:] {
		if v != 0 || math.Signbit(float64(v)) {
			t.Fatalf("gradient of padding, element %d, is %g", i, v)
		}
	}
}

func TestCrossEntropyHugeLogits(t *testing.T) {
	in := []Array{{Data: []float64{60000, -60000, 0, 0, 60000, 0}, Shape: []int{1, 2, 3}}, ints([]int{1, 1}, 1), ints([]int{1}, 1)}
	b := newBench(t, crossEntropyOf(0), in, nil)
	if got := b.run(t, b.out)[0].Data[0]; got != 120000 {
		t.Errorf("the loss is %g, want 120000", got)
	}
	// An offset common to a row's logits changes nothing.
	in[0] = Array{Data: []float64{60000, 60000, 60000, -60000, -60000, -60000}, Shape: []int{1, 2, 3}}
	b = newBench(t, crossEntropyOf(0), in, nil)
	closeTo(t, "loss of equal logits", b.run(t, b.out)[0].Data, []float64{2 * math.Log(3)}, 1e-7)
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
		// The op's last token is always the end; the file's may be any: the classes are renamed by swapping two columns.
		l, v := shape[0], shape[1]
		swap := func(class int) int {
			switch class {
			case SosEos:
				return int(targets[l-1])
			case int(targets[l-1]):
				return SosEos
			}
			return class
		}
		x, want := make([]float64, l*v), make([]float64, l*v)
		for i := range x {
			to := i/v*v + swap(i%v)
			x[to], want[to] = float64(logits[i]), float64(grad[i])
		}
		u := Array{Ints: make([]int32, max(l-1, 1)), Shape: []int{1, l - 1}}
		for i := range l - 1 {
			u.Ints[i] = int32(swap(int(targets[i])))
		}
		if l == 1 { // the shape [1, 0] can't be had: one token of padding, one step of padding
			x, want = append(x, make([]float64, v)...), append(want, make([]float64, v)...)
			u.Shape = []int{1, 1}
		}
		in := []Array{{Data: x, Shape: []int{1, len(x) / v, v}}, u, ints([]int{1}, int32(l-1))}
		b := newBench(t, crossEntropyOf(smoothing[0]), in, &Array{Data: []float64{1}, Shape: []int{1}})
		got := b.run(t, b.out, b.grads[0])
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
	if c.Target[n] != SosEos {
		t.Fatalf("the case ends with token %d", c.Target[n])
	}
	var x []float64
	for _, row := range c.Logits {
		x = append(x, row...)
	}
	in := []Array{{Data: x, Shape: []int{1, n + 1, len(x) / (n + 1)}}, ints([]int{1, n}, c.Target[:n]...), ints([]int{1}, int32(n))}
	for smoothing, want := range map[float64]float64{0: c.Plain, 0.1: c.Smooth} {
		b := newBench(t, crossEntropyOf(smoothing), in, nil)
		closeTo(t, "loss", b.run(t, b.out)[0].Data, []float64{want}, 1e-6)
		if got := b.reference(t, b.out)[0].Data[0]; !(math.Abs(got-want) <= 1e-12) {
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
	for name, build := range map[string]func(g *Graph, n *G.Node){
		"as many tokens as steps": func(g *Graph, n *G.Node) { g.CrossEntropy(g.Input("x", 2, 3, 5), g.IntInput("u", 2, 3), n, 0) },
		"smoothing of 1":          func(g *Graph, n *G.Node) { g.CrossEntropy(g.Input("x", 2, 3, 5), g.IntInput("u", 2, 2), n, 1) },
		"one class":               func(g *Graph, n *G.Node) { g.CrossEntropy(g.Input("x", 2, 3, 1), g.IntInput("u", 2, 2), n, 0) },
	} {
		g := NewGraph()
		build(g, g.IntInput("n", 2))
		if g.Err() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
