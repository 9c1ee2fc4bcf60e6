package simd

import (
	"math"
	"testing"
)

// TestFromHalf walks through all 65536 numbers: fraction and exponent by the definition of binary16.
func TestFromHalf(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		x, y := make([]uint16, 65536), make([]float32, 65536)
		for i := range x {
			x[i] = uint16(i)
		}
		FromHalf(y, x)
		for i, got := range y {
			exp, frac := i>>10&31, float64(i&1023)
			want := math.Ldexp(1+frac/1024, exp-15)
			switch {
			case exp == 0:
				want = math.Ldexp(frac, -24)
			case exp == 31 && frac == 0:
				want = math.Inf(1)
			case exp == 31:
				// Quiet, with sign and payload.
				if bits := math.Float32bits(got); bits != uint32(i&0x8000)<<16|0x7fc00000|uint32(i&1023)<<13 {
					t.Fatalf("%#04x becomes %#08x", i, bits)
				}
				continue
			}
			if i&0x8000 != 0 {
				want = -want
			}
			if math.Float32bits(got) != math.Float32bits(float32(want)) {
				t.Fatalf("%#04x becomes %g, want %g", i, got, want)
			}
		}
		back := make([]uint16, len(y))
		ToHalf(back, y)
		for i, h := range back {
			if want := uint16(i); h != want && !(i&0x7c00 == 0x7c00 && h == want|0x200) {
				t.Fatalf("%#04x becomes %#04x on the way there and back", i, h)
			}
		}
	})
}

// TestToHalf checks around every border between two neighbors: a number goes to the nearer one, the middle to the even.
func TestToHalf(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var x []float32
		var want []uint16
		for i := range uint16(0x7c00) {
			low, high := float64(fromHalf(i)), float64(fromHalf(i+1))
			if i+1 == 0x7c00 {
				high = 65536 // what the next number would be
			}
			middle := float32((low + high) / 2)
			even := i + i&1
			for _, sign := range []uint16{0, 0x8000} {
				s := float32(1)
				if sign != 0 {
					s = -1
				}
				below, above := math.Nextafter32(middle, 0), math.Nextafter32(middle, 1e9)
				x = append(x, s*float32(low), s*below, s*middle, s*above)
				want = append(want, sign|i, sign|i, sign|even, sign|(i+1))
			}
		}
		inf := float32(math.Inf(1))
		x = append(x, inf, -inf, 1e30, -1e30, 1e-30, -1e-30, 1e-45, math.Float32frombits(0x7f800001), math.Float32frombits(0xffd55555))
		want = append(want, 0x7c00, 0xfc00, 0x7c00, 0xfc00, 0, 0x8000, 0, 0x7e00, 0xfeaa)
		got := make([]uint16, len(x))
		ToHalf(got, x)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%g (%#08x) becomes %#04x, want %#04x", x[i], math.Float32bits(x[i]), got[i], want[i])
			}
		}
	})
}

func TestHalfLengths(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(50)
		for _, n := range lengths() {
			x, checkX := operand(t, r, n, mixed(r))
			h := make([]uint16, n+9)
			for i := range h {
				h[i] = 0xabcd
			}
			ToHalf(h[:n], x)
			y, checkY := operand(t, r, n, mixed(r))
			FromHalf(y, h[:n])
			for i, v := range x {
				if h[i] != toHalf(v) || y[i] != fromHalf(h[i]) {
					t.Fatalf("element %d of %d: %g becomes %#04x and %g", i, n, v, h[i], y[i])
				}
			}
			for _, v := range h[n:] {
				if v != 0xabcd {
					t.Fatalf("ToHalf of %d elements writes beyond them", n)
				}
			}
			checkX()
			checkY()
		}
	})
}
