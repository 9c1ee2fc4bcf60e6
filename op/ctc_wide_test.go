package op

import (
	"math"
	"math/rand/v2"
	"testing"
)

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
