package simd

import "math"

func toHalfPlain(dst []uint16, x []float32) {
	for i, v := range x {
		dst[i] = toHalf(v)
	}
}

func fromHalfPlain(dst []float32, x []uint16) {
	for i, h := range x {
		dst[i] = fromHalf(h)
	}
}

func toHalf(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	exp, frac := int(bits>>23&0xff)-127, bits&0x7fffff
	switch {
	case exp == 128 && frac != 0:
		return sign | 0x7e00 | uint16(frac>>13)
	case exp > 15:
		return sign | 0x7c00
	case exp >= -14:
		// A carry out of the fraction goes into the exponent, which is right, up to infinity.
		return sign + uint16(roundShift(uint32(exp+15)<<23|frac, 13))
	case exp >= -25:
		return sign | uint16(roundShift(frac|1<<23, uint(-exp-1)))
	}
	return sign
}

// roundShift is v / 2^shift rounded to the nearest whole number, ties to even.
func roundShift(v uint32, shift uint) uint32 {
	half := uint32(1) << (shift - 1)
	return (v + half - 1 + v>>shift&1) >> shift
}

func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exp == 31 && frac != 0:
		return math.Float32frombits(sign | 0x7fc00000 | frac<<13)
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	v := float32(frac) * 0x1p-24 // exact
	return math.Float32frombits(sign | math.Float32bits(v))
}
