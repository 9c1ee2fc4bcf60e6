package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exp(x) = 2^n * exp(r) with n = round(x*log2 e) and r = x - n*ln 2, |r| <= ln 2 / 2.
//
// n comes from adding 1.5*2^23, which leaves it in the low bits of the sum. ln 2 is subtracted in two parts, the first
// short enough for n*part to be exact. exp(r) = 1 + r + r*r*q(r), where q minimises the largest relative error, 3.1e-9,
// under the condition that its coefficients are float32s; with the roundings the error stays below 1e-7.
const (
	log2e     = 1.44269504088896341
	ln2High   = 0x1.62e4p-1
	ln2Low    = 1.4286068e-06
	magic     = 0x1.8p23
	magicBits = 0x4b400000
	oneBits   = 0x3f800000
)

var expTail = []float64{0.0013820413, 0.008368677, 0.04166827, 0.16666521, 0.49999994}

// expParts returns t, which holds n in its low bits, and exp(r) - 1.
func (e *emitter) expParts(x reg.VecVirtual) (t, y reg.VecVirtual) {
	t, n, r, y := e.vec(), e.vec(), e.vec(), e.vec()
	e.VMOVUPS(e.f32(magic), t)
	e.VFMADD231PS(e.f32(log2e), x, t)
	e.VSUBPS(e.f32(magic), t, n)
	e.VMOVAPS(x, r)
	e.VFNMADD231PS(e.f32(ln2High), n, r)
	e.VFNMADD231PS(e.f32(ln2Low), n, r)
	e.VMOVUPS(e.f32(expTail[0]), y)
	for _, c := range expTail[1:] {
		e.VFMADD213PS(e.f32(c), r, y)
	}
	e.VMULPS(r, y, y)
	e.VFMADD213PS(r, r, y)
	return t, y
}

// power turns whole numbers n, in place, into 2^n.
func (e *emitter) power(n reg.VecVirtual) {
	e.VPSLLD(Imm(23), n, n)
	e.VPADDD(e.u32(oneBits), n, n)
}

// keepFrom sets y to zero in the lanes where x < limit. NaN stays.
func (e *emitter) keepFrom(limit float64, x, y reg.VecVirtual) {
	const notLess = 0x15 // also true for NaN
	if e.wide() {
		k := e.K()
		e.VCMPPS(Imm(notLess), e.f32(limit), x, k)
		e.VMOVAPS_Z(y, k, y)
		return
	}
	m := e.vec()
	e.VCMPPS(Imm(notLess), e.f32(limit), x, m)
	e.VANDPS(m, y, y)
}

// exp returns exp(x) for any x, subnormal results as well.
func (e *emitter) exp(x reg.VecVirtual) reg.VecVirtual {
	v := e.vec()
	e.VMOVUPS(e.f32(89), v) // beyond the largest float32, and n still has a power of two in two steps
	e.VMINPS(x, v, v)       // x where it is NaN
	t, y := e.expParts(v)
	half := e.vec()
	e.VPSUBD(e.u32(magicBits), t, t)
	e.VPSRAD(Imm(1), t, half)
	e.VPSUBD(half, t, t)
	e.power(half)
	e.power(t)
	e.VFMADD213PS(half, half, y)
	e.VMULPS(t, y, y)
	e.keepFrom(-104, v, y)
	return y
}

// expNegative returns exp(x) for x <= 0 or NaN, and 0 instead of what is not a normal number.
func (e *emitter) expNegative(x reg.VecVirtual) reg.VecVirtual {
	t, y := e.expParts(x)
	e.power(t)
	e.VFMADD213PS(t, t, y)
	e.keepFrom(-87.3, x, y)
	return y
}

// sigmoidParts returns numerators a and b and a denominator d for sigmoid(x) = a/d and sigmoid(-x) = b/d. None of them
// overflows: with z = exp(-|x|) they are 1 or z, z or 1, and 1+z.
func (e *emitter) sigmoidParts(x reg.VecVirtual, both bool) (a, b, d reg.VecVirtual) {
	size, one := e.vec(), e.vec()
	a, d = e.vec(), e.vec()
	e.or(e.u32(1<<31), x, size)
	z := e.expNegative(size)
	e.VMOVUPS(e.f32(1), one)
	e.VADDPS(one, z, d)
	if both {
		b = e.vec()
	}
	if e.wide() {
		negative := e.K()
		e.VPMOVD2M(x, negative)
		e.VMOVAPS(one, a)
		e.VMOVAPS(z, negative, a)
		if both {
			e.VMOVAPS(z, b)
			e.VMOVAPS(one, negative, b)
		}
		return a, b, d
	}
	e.VBLENDVPS(x, z, one, a)
	if both {
		e.VBLENDVPS(x, one, z, b)
	}
	return a, b, d
}

// sigmoid returns sigmoid(x).
func (e *emitter) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	a, _, d := e.sigmoidParts(x, false)
	e.VDIVPS(d, a, a)
	return a
}

// sigmoids returns sigmoid(x) and sigmoid(-x).
func (e *emitter) sigmoids(x reg.VecVirtual) (s, t reg.VecVirtual) {
	a, b, d := e.sigmoidParts(x, true)
	r := e.vec()
	e.VMOVUPS(e.f32(1), r)
	e.VDIVPS(d, r, r)
	e.VMULPS(r, a, a)
	e.VMULPS(r, b, b)
	return a, b
}

// swish returns x*sigmoid(x).
func (e *emitter) swish(x reg.VecVirtual) reg.VecVirtual {
	s := e.sigmoid(x)
	e.VMULPS(x, s, s)
	return s
}

// swishSlope returns the derivative of swish, s*(1 + x*(1-s)).
func (e *emitter) swishSlope(x reg.VecVirtual) reg.VecVirtual {
	s, t := e.sigmoids(x)
	e.VFMADD213PS(e.f32(1), x, t)
	e.VMULPS(t, s, s)
	return s
}
