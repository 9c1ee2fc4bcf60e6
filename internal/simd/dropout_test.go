package simd

import (
	"math"
	"testing"

	"konkanitrain/internal/philox"
)

// TestDropoutDraws holds every tier to the definition of the draws, element by element and to the bit.
func TestDropoutDraws(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(30)
		for _, n := range append(lengths(), 1500, 4096) {
			d := Drop{Key: r.Uint64(), Site: r.Uint32(), Threshold: uint32(r.IntN(65537))}
			if n%5 == 0 {
				d.Threshold = []uint32{1, 6554, 32768, 65535, 65536}[r.IntN(5)]
			}
			row := r.Uint32()
			x, checkX := operand(t, r, n, normal(r))
			dst, check := operand(t, r, n, normal(r))
			want := make([]float32, n)
			for j := range want {
				block := philox.Block(d.Key, uint32(j/128*16+j%16), row, d.Site, 0)
				draw := block[j%128/32] >> (16 * (j / 16 % 2)) & 0xffff
				if draw >= d.Threshold && d.Threshold > 0 {
					want[j] = x[j] * d.Scale()
				}
				if d.Threshold == 0 {
					want[j] = x[j]
				}
			}
			Dropout(dst, x, row, d)
			check()
			checkX()
			if j := same(dst, want); j >= 0 {
				t.Fatalf("Dropout of %d elements, %+v: element %d is %g, want %g", n, d, j, dst[j], want[j])
			}
			Dropout(x, x, row, d)
			checkX()
			if j := same(x, want); j >= 0 {
				t.Fatalf("Dropout in place of %d elements: element %d is %g, want %g", n, j, x[j], want[j])
			}
		}
	})
}

// TestDropoutAndMore compares the combined functions with their parts.
func TestDropoutAndMore(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(31)
		for _, n := range lengths() {
			d := Drop{Key: r.Uint64(), Site: 7, Threshold: []uint32{0, 6554, 40000, 65536}[r.IntN(4)]}
			row := uint32(n)
			x, checkX := operand(t, r, n, mixed(r))
			y, checkY := operand(t, r, n, mixed(r))
			dst, check := operand(t, r, n, mixed(r))
			part, want := make([]float32, n), make([]float32, n)

			AddDropout(dst, x, 0.5, y, row, d)
			check()
			Dropout(part, y, row, d)
			AddScaled(want, x, 0.5, part)
			if i := same(dst, want); i >= 0 {
				t.Fatalf("AddDropout of %d: element %d is %g, want %g", n, i, dst[i], want[i])
			}
			SwishDropout(dst, x, row, d)
			check()
			Swish(part, x)
			Dropout(want, part, row, d)
			if i := sameOrZero(dst, want); i >= 0 {
				t.Fatalf("SwishDropout of %d: element %d is %g, want %g", n, i, dst[i], want[i])
			}
			SwishDropoutGrad(dst, x, y, row, d)
			check()
			SwishGrad(part, x, y)
			Dropout(want, part, row, d)
			if i := sameOrZero(dst, want); i >= 0 {
				t.Fatalf("SwishDropoutGrad of %d: element %d is %g, want %g", n, i, dst[i], want[i])
			}
			checkX()
			checkY()
			SwishDropoutGrad(y, x, y, row, d)
			if i := same(y, dst); i >= 0 {
				t.Fatalf("SwishDropoutGrad in place of %d: element %d is %g, want %g", n, i, y[i], dst[i])
			}
			AddDropout(dst, dst, 0.5, x, row, d)
			check()
		}
	})
}

// sameOrZero is same, with 0 and -0 equal.
func sameOrZero(a, b []float32) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// TestDropoutHides: what is dropped is 0, also NaN.
func TestDropoutHides(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		x, y := make([]float32, 1000), make([]float32, 1000)
		for i := range x {
			x[i] = float32(math.NaN())
		}
		Dropout(y, x, 3, Drop{Key: 1, Site: 2, Threshold: 32768})
		zeros := 0
		for _, v := range y {
			if v == 0 {
				zeros++
			}
		}
		if zeros < 400 || zeros > 600 { // 500 expected, with a deviation of 16
			t.Errorf("%d of 1000 NaNs are dropped at p = 0.5", zeros)
		}
	})
}

func TestDropoutDoesNotAllocate(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		x, d := make([]float32, 300), Drop{Key: 1, Threshold: 6554}
		if n := testing.AllocsPerRun(10, func() {
			Dropout(x, x, 1, d)
			AddDropout(x, x, 1, x, 1, d)
			SwishDropout(x, x, 1, d)
			SwishDropoutGrad(x, x, x, 1, d)
		}); n != 0 {
			t.Errorf("%v allocations per round", n)
		}
	})
}

// What is kept is scaled up by the share that is kept; where nothing is, nothing is.
func TestDropScale(t *testing.T) {
	for threshold, want := range map[uint32]float32{0: 1, 16384: 4. / 3, 32768: 2, 65535: 65536, 65536: 0} {
		if got := (Drop{Threshold: threshold}).Scale(); got != want {
			t.Errorf("threshold %d: %v, want %v", threshold, got, want)
		}
	}
}
