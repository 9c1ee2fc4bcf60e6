package op

import (
	"math"
	"unsafe"
)

// CTC sums products of thousands of probabilities, and what matters in the end may be e^-700 times smaller
// than its neighbors on the way: neither float64 nor one scale for each frame can hold that. Logarithms can, at the
// price of two exponentials and a logarithm for every sum. A wide number has an exponent of its own instead:
// sums and products cost an addition and a multiplication, nearly always, with the 53 bits of float64.

// wideBits is the unit of the exponent. Mantissas lie in [2^-128, 2^128), up to the factor 3 of a sum of three.
const (
	wideBits = 256
	wideUp   = 0x1p256
	wideDown = 0x1p-256
	wideMax  = 0x1p128
	wideMin  = 0x1p-128
	wideZero = -1 << 29 // the exponent of 0, far below any other
)

// wides is a vector of the numbers m[i] * 2^(256*x[i]).
type wides struct {
	m []float64
	x []int32
}

func (w wides) set(i int, v float64) {
	w.m[i], w.x[i] = v, 0
	if v == 0 {
		w.x[i] = wideZero
	}
}

// zero sets the elements from i to j (not included) to 0.
func (w wides) zero(i, j int) {
	for ; i < j; i++ {
		w.m[i], w.x[i] = 0, wideZero
	}
}

// part is the n numbers from i on.
func (w wides) part(i, n int) wides { return wides{w.m[i:][:n], w.x[i:][:n]} }

// wideAdd is a + b. What is 2 units smaller has no bit in the sum.
func wideAdd(am float64, ax int32, bm float64, bx int32) (float64, int32) {
	if ax == bx {
		return am + bm, ax
	}
	return wideAlign(am, ax, bm, bx)
}

func wideAlign(am float64, ax int32, bm float64, bx int32) (float64, int32) {
	if ax < bx {
		am, ax, bm, bx = bm, bx, am, ax
	}
	if ax-bx == 1 {
		am += bm * wideDown
	}
	return am, ax
}

// wideMul is a * b, with the mantissa brought back into its range. NaN stays.
func wideMul(am float64, ax int32, bm float64, bx int32) (float64, int32) {
	m, x := am*bm, ax+bx
	if m >= wideMin && m < wideMax {
		return m, x
	}
	return wideNormal(m, x)
}

func wideNormal(m float64, x int32) (float64, int32) {
	switch {
	case m == 0:
		return 0, wideZero
	case m < wideMin:
		return m * wideUp, x - 1
	case m >= wideMax:
		return m * wideDown, x + 1
	}
	return m, x
}

// wideExp is e^y for a logarithm of a probability. Below -1e7 it is 0, so that no product of less than 9000 of
// them can reach wideZero.
func wideExp(y float64) (m float64, x int32) {
	if !(y <= -80) { // NaN as well
		return math.Exp(y), 0
	}
	if y < -1e7 {
		return 0, wideZero
	}
	k := math.Round(y / (wideBits * math.Ln2))
	return math.Exp(y - k*wideBits*math.Ln2), int32(k)
}

// wideLog is the logarithm of a.
func wideLog(m float64, x int32) float64 { return math.Log(m) + float64(x)*(wideBits*math.Ln2) }

// wideValue is m * 2^(256*x) for a number that is known to be about 1 at most.
func wideValue(m float64, x int32) float64 {
	switch x {
	case 0:
		return m
	case -1:
		return m * wideDown
	case 1:
		return m * wideUp
	}
	return 0
}

// takeWides cuts n numbers from the front of scratch; wideSpace(n) floats are enough.
func takeWides(scratch *[]float32, n int) wides {
	m := takeFloat64s(scratch, n)
	x := take(scratch, n)
	if n == 0 {
		return wides{}
	}
	return wides{m, unsafe.Slice((*int32)(unsafe.Pointer(&x[0])), n)}
}

func wideSpace(n int) int { return float64Space(n) + roundUp(n) }
