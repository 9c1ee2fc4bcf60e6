package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// flatNet has parameters, and nothing that could be run.
type flatNet []Parameter

func (n flatNet) Parameters() []Parameter            { return n }
func (flatNet) Spec(int) (Spec, error)               { return Spec{}, errors.New("there is no program") }
func (flatNet) Table(string, tensor.Shape) []float32 { return nil }
func (flatNet) Averages() bool                       { return false }
func (flatNet) TableBytes() int64                    { return 0 }
func (flatNet) Tables() [][]float32                  { return nil }
func (flatNet) Start(name string, seed uint64, values []float32) {
	copy(values, testkit.Normal[float32](seed+uint64(len(name)), len(values)))
}

// several are parameters of one piece and of more, with gaps between them and none, of which some decay.
var several = flatNet{
	{Name: "one", Shape: tensor.Shape{1}, Decay: true},
	{Name: "matrix.weight", Shape: tensor.Shape{3, 2*pieceElements/3 + 5}, Decay: true},
	{Name: "bias", Shape: tensor.Shape{7}},
	{Name: "exactly.one.piece", Shape: tensor.Shape{pieceElements}},
	{Name: "last", Shape: tensor.Shape{pieceElements + 1}, Decay: true},
}

// flatCrew is a crew for parameters alone, started from seed 1.
func flatCrew(t testing.TB, net Network[int], workers int) *Crew[int] {
	t.Helper()
	c, err := NewCrew(device.NewHost(), NewLibrary(net), workers, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Initialize(1); err != nil {
		t.Fatal(err)
	}
	return c
}

// floats is a parameter's part of a flat buffer.
func (h *holding[K]) floats(of Flat, name string) []float32 {
	b, _, err := h.part(of, name)
	if err != nil {
		panic(err)
	}
	return floats(h.layout.view(b.Host(), name))
}

// setGradients lets a worker have run with these gradients: normal draws from seed, by parameter.
func setGradients(c *Crew[int], worker int, seed uint64) map[string][]float32 {
	all := map[string][]float32{}
	for i, p := range c.layout.Tensors {
		if p.Frozen {
			continue
		}
		g := floats(c.layout.view(c.grads[worker].Host(), p.Name))
		copy(g, testkit.Normal[float32](seed+uint64(i), len(g)))
		all[p.Name] = slices.Clone(g)
	}
	c.workers[worker].runs = 1
	return all
}

// gaps fails if anything between tensors isn't 0.
func gaps(t *testing.T, c *Crew[int], what string) {
	t.Helper()
	for name, b := range map[string]device.Buffer{"weights": c.weights, "first moments": c.moments[0], "second moments": c.moments[1], "averages": c.averages} {
		if b == nil {
			continue
		}
		memory := slices.Clone(b.Host())
		for _, p := range c.layout.Tensors {
			if int64(len(memory)) <= p.Offset { // frozen
				continue
			}
			clear(memory[p.Offset:][:p.Bytes()])
		}
		if !bytes.Equal(memory, make([]byte, len(memory))) {
			t.Errorf("%s: there is something between the tensors of the %s", what, name)
		}
	}
}

// The pieces of a layout cover each tensor once and the whole buffer once, and none is larger than it may be.
func TestPieces(t *testing.T) {
	l, err := NewLayout(several)
	if err != nil {
		t.Fatal(err)
	}
	p := cut(l)
	for what, list := range map[string][]piece{"buffer": p.buffer, "tensors": p.tensors} {
		covered := make([]int, l.Bytes/4)
		for _, x := range list {
			if x.n < 1 || x.n > pieceElements {
				t.Errorf("%s: a piece of %d elements", what, x.n)
			}
			for i := range x.n {
				covered[int(x.offset/4)+i]++
			}
		}
		want := slices.Repeat([]int{1}, len(covered))
		if what == "tensors" {
			clear(want)
			for _, x := range l.Tensors {
				copy(want[x.Offset/4:][:x.Bytes()/4], slices.Repeat([]int{1}, int(x.Bytes()/4)))
			}
		}
		if !slices.Equal(covered, want) {
			t.Errorf("%s: pieces don't cover each element once", what)
		}
	}
}

// Reduce adds up the workers that ran and says how long the sum is, the same for any number of workers that work on it.
func TestReduce(t *testing.T) {
	var first float64
	for workers := 2; workers <= 4; workers++ {
		c := flatCrew(t, several, workers)
		a, b := setGradients(c, 0, 1), setGradients(c, workers-1, 2)
		squares, err := c.Reduce()
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for _, p := range several {
			sum := floats(c.layout.view(c.reduced.Host(), p.Name))
			for i := range sum {
				v := a[p.Name][i] + b[p.Name][i]
				if sum[i] != v {
					t.Fatalf("%d workers: %s[%d] is %g, want %g", workers, p.Name, i, sum[i], v)
				}
				want += float64(v) * float64(v)
			}
		}
		// Squares of a piece are added in float32, in many sums at a time, those of pieces in float64.
		if d := squares/want - 1; math.Abs(d) > 1e-6 {
			t.Errorf("%d workers: the sum of squares is %g, want %g", workers, squares, want)
		}
		if first == 0 {
			first = squares
		}
		if squares != first {
			t.Errorf("%d workers: the sum of squares is %v, %v with two", workers, squares, first)
		}
	}
}

// Finite names the first weight that is not a finite number, in whatever tensor and piece it is.
func TestFinite(t *testing.T) {
	for _, workers := range []int{1, 3} {
		c := flatCrew(t, several, workers)
		look := func() string {
			t.Helper()
			odd, err := c.Finite()
			if err != nil {
				t.Fatal(err)
			}
			if odd == nil {
				return ""
			}
			return odd.String()
		}
		for _, p := range several {
			w := c.floats(Weights, p.Name)
			last := len(w) - 1
			for _, i := range []int{0, last / 2, min(pieceElements-1, last), min(pieceElements, last), last} {
				was := w[i]
				for _, huge := range []float32{math.MaxFloat32, -math.MaxFloat32, 1e-45} {
					w[i] = huge
					if s := look(); s != "" {
						t.Errorf("%d workers: %g at %s[%d]: %s", workers, huge, p.Name, i, s)
					}
				}
				for _, broken := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					w[i] = float32(broken)
					if s, want := look(), fmt.Sprintf("%s[%d] is %g", p.Name, i, broken); s != want {
						t.Errorf("%d workers: %q, want %q", workers, s, want)
					}
				}
				w[i] = was
			}
		}
		for _, p := range several {
			w := c.floats(Weights, p.Name)
			w[len(w)-1] = float32(math.Inf(1))
		}
		c.floats(Weights, "last")[5] = float32(math.NaN())
		for _, want := range []string{"one[0] is +Inf", "matrix.weight[65549] is +Inf", "bias[6] is +Inf", "exactly.one.piece[32767] is +Inf", "last[5] is NaN", "last[32768] is +Inf", ""} {
			if s := look(); s != want {
				t.Errorf("%d workers: %q, want %q", workers, s, want)
			}
			if odd, _ := c.Finite(); odd != nil {
				c.floats(Weights, odd.Name)[odd.Index] = 0
			}
		}
	}
}

// Initialize gives the same start for any number of workers, and moments of 0.
func TestInitialize(t *testing.T) {
	var first []byte
	for workers := 1; workers <= 3; workers++ {
		c := flatCrew(t, several, workers)
		for of := Weights; of <= SecondMoments; of++ {
			for _, p := range several {
				c.floats(of, p.Name)[0] = 77
			}
		}
		if err := c.Initialize(3); err != nil {
			t.Fatal(err)
		}
		for _, p := range several {
			want := make([]float32, len(c.floats(Weights, p.Name)))
			if m := append(slices.Clone(c.floats(FirstMoments, p.Name)), c.floats(SecondMoments, p.Name)...); slices.ContainsFunc(m, func(v float32) bool { return v != 0 }) {
				t.Errorf("moments of %s are not 0", p.Name)
			}
			several.Start(p.Name, 3, want)
			if !equalBits(c.floats(Weights, p.Name), want) {
				t.Errorf("%s does not start as it should", p.Name)
			}
		}
		gaps(t, c, "initialized")
		if first == nil {
			first = slices.Clone(c.weights.Host())
		}
		if !bytes.Equal(first, c.weights.Host()) {
			t.Errorf("%d workers start from other weights", workers)
		}
	}
}

// Mean is a sum without rounding errors, divided once: to the bit the plain loop, and near the mean in float64. Weights
// that can't be loaded are left out.
func TestMean(t *testing.T) {
	part := func(i int, p Parameter) []float32 { // the weights of one checkpoint, near each other as those of a run are
		c := testkit.Normal[float32](7, Placed{Parameter: p}.elements())
		for k, v := range testkit.Normal[float32](uint64(20+i), len(c)) {
			c[k] += 1e-3 * v
		}
		return c
	}
	for _, workers := range []int{1, 2} {
		for _, lost := range [][]int{nil, {1}, {0, 3}, {0, 1, 2, 3}} {
			c := flatCrew(t, several, workers)
			used, err := c.Mean(4, func(i int) error {
				for _, p := range several {
					if slices.Contains(lost, i) && p.Name == "bias" { // after others were read
						return errors.New("a damaged file")
					}
					var s bytes.Buffer
					binary.Write(&s, binary.LittleEndian, part(i, p))
					if err := c.Import(FirstMoments, p.Name, &s); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var want []int
			for i := range 4 {
				if !slices.Contains(lost, i) {
					want = append(want, i)
				}
			}
			if !slices.Equal(used, want) {
				t.Errorf("%v were used, want %v", used, want)
			}
			for _, p := range several {
				sum, exact := make([]float32, Placed{Parameter: p}.elements()), make([]float64, Placed{Parameter: p}.elements())
				several.Start(p.Name, 1, sum)
				for k, v := range sum {
					exact[k] = float64(v)
				}
				rounded := make([]float32, len(sum))
				for _, i := range used {
					for k, v := range part(i, p) {
						y := float32(v - rounded[k])
						s := float32(sum[k] + y)
						rounded[k] = float32(s-sum[k]) - y
						sum[k] = s
						exact[k] += float64(v)
					}
				}
				n := float64(len(used) + 1)
				got := c.floats(Weights, p.Name)
				for k := range sum {
					if v := sum[k] / float32(n); got[k] != v {
						t.Fatalf("%s[%d] is %v, want %v", p.Name, k, got[k], v)
					}
					// Two roundings, of the sum and of the quotient, of values below 8.
					if d := float64(got[k]) - exact[k]/n; math.Abs(d) > 8*0x1p-23 {
						t.Fatalf("%s[%d] is %v, the mean %v", p.Name, k, got[k], exact[k]/n)
					}
				}
			}
			memory := slices.Clone(c.weights.Host())
			for _, p := range c.layout.Tensors {
				clear(memory[p.Offset:][:p.Bytes()])
			}
			if !bytes.Equal(memory, make([]byte, len(memory))) {
				t.Error("there is something between the tensors")
			}
		}
	}
}

func (p Placed) elements() int { return int(p.Bytes() / 4) }

// A replica whose parameters have one name twice, or whose network has no programs, says so.
func TestNetworksThatAreWrong(t *testing.T) {
	_, err := NewCrew(device.NewHost(), NewLibrary(flatNet{{Name: "a"}, {Name: "a"}}), 1, true)
	wants(t, "a name twice", err, "two parameters are called a")
	c := flatCrew(t, several, 1)
	wants(t, "no programs", c.Prepare([]Batch[int]{{}}, 0), "there is no program")
}
