package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exp(x) = 2^n * exp(r) with n = round(x*log2 e) and r = x - n*ln 2, |r| <= ln 2 / 2.
//
// n comes from adding 1.5*2^23, which leaves it in the low bits of the sum. ln 2 is subtracted in two parts, the first
// short enough for n*part to be exact. exp(r) = 1 + r + r*r*q(r), where q minimizes the largest relative error, 3.1e-9,
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

// The functions below take several vectors and do each step for all of them: a processor finds the next independent
// instruction among some dozens, and one vector's chain is longer than that.

// expParts returns t, which holds n in its low bits, and exp(r) - 1.
func (e *emitter) expParts(x []reg.VecVirtual) (t, y []reg.VecVirtual) {
	t, y = e.vecs(len(x)), e.vecs(len(x))
	n, r := e.vecs(len(x)), e.vecs(len(x))
	for i := range x {
		e.VMOVUPS(e.f32(magic), t[i])
		e.VFMADD231PS(e.f32(log2e), x[i], t[i])
	}
	for i := range x {
		e.VSUBPS(e.f32(magic), t[i], n[i])
		e.VMOVAPS(x[i], r[i])
	}
	for i := range x {
		e.VFNMADD231PS(e.f32(ln2High), n[i], r[i])
	}
	for i := range x {
		e.VFNMADD231PS(e.f32(ln2Low), n[i], r[i])
	}
	for i := range x {
		e.VMOVUPS(e.f32(expTail[0]), y[i])
	}
	for _, c := range expTail[1:] {
		for i := range x {
			e.VFMADD213PS(e.f32(c), r[i], y[i])
		}
	}
	for i := range x {
		e.VMULPS(r[i], y[i], y[i])
	}
	for i := range x {
		e.VFMADD213PS(r[i], r[i], y[i])
	}
	return t, y
}

// power turns whole numbers n, in place, into 2^n.
func (e *emitter) power(n []reg.VecVirtual) {
	for i := range n {
		e.VPSLLD(Imm(23), n[i], n[i])
	}
	for i := range n {
		e.VPADDD(e.u32(oneBits), n[i], n[i])
	}
}

// keepFrom sets y to zero in the lanes where x < limit. NaN stays.
func (e *emitter) keepFrom(limit float64, x, y []reg.VecVirtual) {
	const notLess = 0x15 // also true for NaN
	for i := range x {
		if e.wide() {
			k := e.K()
			e.VCMPPS(Imm(notLess), e.f32(limit), x[i], k)
			e.VMOVAPS_Z(y[i], k, y[i])
			continue
		}
		m := e.vec()
		e.VCMPPS(Imm(notLess), e.f32(limit), x[i], m)
		e.VANDPS(m, y[i], y[i])
	}
}

// exp returns exp(x) for any x, subnormal results as well.
func (e *emitter) exp(x []reg.VecVirtual) []reg.VecVirtual {
	v, half := e.vecs(len(x)), e.vecs(len(x))
	for i := range x {
		e.VMOVUPS(e.f32(89), v[i]) // beyond the largest float32, and 2^n is still two powers of two
		e.VMINPS(x[i], v[i], v[i]) // x where it is NaN
	}
	t, y := e.expParts(v)
	for i := range x {
		e.VPSUBD(e.u32(magicBits), t[i], t[i])
		e.VPSRAD(Imm(1), t[i], half[i])
		e.VPSUBD(half[i], t[i], t[i])
	}
	e.power(half)
	e.power(t)
	for i := range x {
		e.VFMADD213PS(half[i], half[i], y[i])
	}
	for i := range x {
		e.VMULPS(t[i], y[i], y[i])
	}
	e.keepFrom(-104, v, y)
	return y
}

// expNegative returns exp(x) for x <= 0 or NaN, and 0 instead of what is not a normal number.
func (e *emitter) expNegative(x []reg.VecVirtual) []reg.VecVirtual {
	t, y := e.expParts(x)
	e.power(t)
	for i := range x {
		e.VFMADD213PS(t[i], t[i], y[i])
	}
	e.keepFrom(-87.3, x, y)
	return y
}

// sigmoidParts returns numerators a and b and a denominator d for sigmoid(x) = a/d and sigmoid(-x) = b/d. None of them
// overflows: with z = exp(-|x|) they are 1 or z, z or 1, and 1+z.
func (e *emitter) sigmoidParts(x []reg.VecVirtual, both bool) (a, b, d []reg.VecVirtual) {
	size := e.vecs(len(x))
	a, b, d = e.vecs(len(x)), e.vecs(len(x)), e.vecs(len(x))
	for i := range x {
		e.or(e.u32(1<<31), x[i], size[i])
	}
	zs := e.expNegative(size)
	for i, z := range zs {
		one := e.vec()
		e.VMOVUPS(e.f32(1), one)
		e.VADDPS(one, z, d[i])
		if e.wide() {
			negative := e.K()
			e.VPMOVD2M(x[i], negative)
			e.VMOVAPS(one, a[i])
			e.VMOVAPS(z, negative, a[i])
			if both {
				e.VMOVAPS(z, b[i])
				e.VMOVAPS(one, negative, b[i])
			}
			continue
		}
		e.VBLENDVPS(x[i], z, one, a[i])
		if both {
			e.VBLENDVPS(x[i], one, z, b[i])
		}
	}
	return a, b, d
}

// sigmoid returns sigmoid(x).
func (e *emitter) sigmoid(x []reg.VecVirtual) []reg.VecVirtual {
	a, _, d := e.sigmoidParts(x, false)
	for i := range x {
		e.VDIVPS(d[i], a[i], a[i])
	}
	return a
}

// sigmoids returns sigmoid(x) and sigmoid(-x).
func (e *emitter) sigmoids(x []reg.VecVirtual) (s, t []reg.VecVirtual) {
	a, b, d := e.sigmoidParts(x, true)
	for i := range x {
		r := e.vec()
		e.VMOVUPS(e.f32(1), r)
		e.VDIVPS(d[i], r, r)
		e.VMULPS(r, a[i], a[i])
		e.VMULPS(r, b[i], b[i])
	}
	return a, b
}

// swish returns x*sigmoid(x).
func (e *emitter) swish(x []reg.VecVirtual) []reg.VecVirtual {
	s := e.sigmoid(x)
	for i := range x {
		e.VMULPS(x[i], s[i], s[i])
	}
	return s
}

// swishSlope returns the derivative of swish, s*(1 + x*(1-s)).
func (e *emitter) swishSlope(x []reg.VecVirtual) []reg.VecVirtual {
	s, t := e.sigmoids(x)
	for i := range x {
		e.VFMADD213PS(e.f32(1), x[i], t[i])
		e.VMULPS(t[i], s[i], s[i])
	}
	return s
}
