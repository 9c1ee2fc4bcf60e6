package optest

import (
	"strings"
	"testing"

	"konkanitrain/op"
)

// Each check finds what it is for: a claim that is wrong in one way only is not let through.
func TestChecksFindMistakes(t *testing.T) {
	r := Rand(3)
	frames := Sequences(r, []int{2, 5}, 4)
	weights := []Operand{All(Floats(r, 4, 3)), All(Floats(r, 4))}
	unmasked := Batch{In: append([]Operand{frames}, weights...), Rows: rowsOf([]int{2, 5}), Extra: 3}
	blind := unmasked
	blind.Blind = true
	for _, c := range []struct {
		want string
		Case Case
	}{
		{"kernel of linear", Case{Build: BuildLinear, In: []op.Array{Floats(r, 5, 70), Floats(r, 3, 70)}}}, // Tol 0, of sums in float32
		{"finite differences", Case{Build: BuildRelu, In: []op.Array{Values(0, 0, 0)}}},                    // no gradient at the kink
		{"result of utterance", Case{Build: BuildDepthwise, Batch: &unmasked}},                             // it reads its padding
		{"of the absent row", Case{Build: BuildDepthwise, Batch: &blind}},
		{"where padding holds NaN", Case{Build: BuildDepthwise, Batch: &blind}},
		{"want", Case{Build: BuildLinear, In: []op.Array{Floats(r, 5, 7), Floats(r, 3, 6)}}},
		{"input 1, which is updated", Case{ // float32 can't hold 2^25 - 1: the kernel finds that nothing was lost
			Make: func() *op.Op { return op.NewMeanAdd(1) }, In: []op.Array{Values(1), Values(0), Values(1 << 25)},
		}},
		{"2 operands", Case{Make: func() *op.Op { return op.NewFinite(3) }, In: []op.Array{Values(1, 2, 3), Values(1)}}},
	} {
		if err := Check(CPU(), c.Case); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want a complaint with %q, got: %v", c.want, err)
		}
	}
	c := Case{Build: BuildRelu, In: []op.Array{Values(1, -2, 3)}}
	if err := Check(CPU(), c); err != nil {
		t.Error(err)
	}
}

// What a kernel says about itself is checked too.
func TestKernelChecks(t *testing.T) {
	o := op.NewMeanAdd(2)
	k, err := o.Kernel(op.CPU)
	if err != nil {
		t.Fatal(err)
	}
	in := []op.Tensor{{Data: []float32{1, 2}}, {Data: []float32{0.5, 0}}, {Data: []float32{1, 1}}}
	after := clones(in)
	k.Run(NewEnv(op.NewBLAS(), k), dirty(o.Out), after)
	if err := checkInputs(o, in, after, -1); err != nil {
		t.Errorf("an update that the op declares: %v", err)
	}
	o.Updates = nil
	if err := checkInputs(o, in, after, -1); err == nil {
		t.Error("an update that the op doesn't declare passed")
	}
	if err := Same(op.Tensor{Data: []float32{1, 2}}, op.Tensor{Data: []float32{1, 2 + 1e-6}}); err == nil {
		t.Error("another bit passed")
	}
}

// Names are what a failure is found by.
func TestCaseNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if name, _, ok := strings.Cut(c.Name, "/"); !ok || name == "" || seen[c.Name] {
			t.Errorf("the name of a case is %q, want an op's, a slash and what is special, once", c.Name)
		}
		seen[c.Name] = true
		if c.Why == "" && c.Batch == nil || c.Batch != nil && c.Batch.Why == "" {
			t.Errorf("%s: a tolerance without a reason", c.Name)
		}
		if (c.HalfTol > 0) != (c.HalfWhy != "") {
			t.Errorf("%s: half precision's tolerance is %g, its reason %q", c.Name, c.HalfTol, c.HalfWhy)
		}
	}
}

func TestCovered(t *testing.T) {
	covered := Covered()
	for _, name := range []string{"linear", "linear.dx", "linear.dw", "linear.db", "attention.relative.grad", "unpack", "adamw", "half.load"} {
		if !covered[name] {
			t.Errorf("no case covers %s", name)
		}
	}
	if covered["abacus"] {
		t.Error("a case covers an op that doesn't exist")
	}
}

func TestHalves(t *testing.T) {
	for bits := range 1 << 16 {
		v := halfValue(uint16(bits))
		if got := halfBits(v); got != uint16(bits) && v == v {
			t.Fatalf("float16 %#04x is %g, and that %#04x", bits, v, got)
		}
	}
	for bits, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 0x1p-24, 0x0400: 0x1p-14, 0x3555: 0.333251953125} {
		if got := halfValue(bits); got != want {
			t.Errorf("float16 %#04x is %g, want %g", bits, got, want)
		}
	}
}

// A pack goes to a card part by part, each as its type, and comes back in the processor's order.
func TestPacks(t *testing.T) {
	parts := []op.Part{{Elements: 3, Half: true}, {Elements: 40}, {Elements: 1, Half: true}}
	x := NewTensor(op.Type{Shape: []int{44}}, Floats(Rand(7), 44))
	kind := op.Type{Shape: x.Shape}
	if got := unpack(pack(x, parts, false), kind, parts, false); Same(got, x) != nil {
		t.Errorf("in float32 %v, want %v", got.Data, x.Data)
	}
	b := pack(x, parts, true)
	if offsets, total := op.Packed(parts, true); len(b) != int(total) || b[offsets[0]+6] != 0xff {
		t.Errorf("%d bytes, want %d, with nothing written between the parts", len(b), total)
	}
	got := unpack(b, kind, parts, true)
	if err := Same(op.Tensor{Data: got.Data[3:43]}, op.Tensor{Data: x.Data[3:43]}); err != nil {
		t.Errorf("a part of float32: %v", err)
	}
	for _, i := range []int{0, 1, 2, 43} {
		if want := as(op.Float16, op.Tensor{Data: x.Data[i:][:1], Shape: []int{1}}); halfValue(want.Halves[0]) != float64(got.Data[i]) {
			t.Errorf("element %d is %g, want %g as float16", i, got.Data[i], x.Data[i])
		}
	}
}
