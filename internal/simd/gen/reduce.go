package main

import (
	"math"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reduce emits sums of whole slices.
func reduce(e *emitter) {
	e.function("sum", "func(x []float32) float32", "returns the sum, accumulated in float64.")
	x, n := e.base("x"), e.length("x")
	sums := e.zeros(4)
	e.over(n, 2, func(cs []cursor) {
		for i, c := range cs {
			low, high := e.doubles(c.load(x))
			e.VADDPD(low, sums[2*i], sums[2*i])
			e.VADDPD(high, sums[2*i+1], sums[2*i+1])
		}
	})
	e.returnDouble(sums, true)

	e.function("sumSquares", "func(x []float32) float64", "returns the sum of squares, accumulated in float64.")
	x, n = e.base("x"), e.length("x")
	sums = e.zeros(4)
	e.over(n, 2, func(cs []cursor) {
		for i, c := range cs {
			low, high := e.doubles(c.load(x))
			e.VFMADD231PD(low, low, sums[2*i])
			e.VFMADD231PD(high, high, sums[2*i+1])
		}
	})
	e.returnDouble(sums, false)

	largest(e)
}

// largest emits the maximum. The instruction forgets a NaN that a number follows, so NaNs are noted beside it.
func largest(e *emitter) {
	const group, unordered = 4, 3
	e.function("max", "func(x []float32) float32", "returns the largest element, -Inf for none, NaN if one is NaN.")
	x, n := e.base("x"), e.length("x")
	lowest := e.u32(math.Float32bits(float32(math.Inf(-1))))
	tops := e.vecs(group)
	for _, v := range tops {
		e.VMOVUPS(lowest, v)
	}
	nan, found := e.vec(), e.GP32()
	if e.wide() {
		e.XORL(found, found)
	} else {
		e.zero(nan)
	}
	e.over(n, group, func(cs []cursor) {
		for i, c := range cs {
			v := c.load(x)
			if e.wide() {
				k, bits := e.K(), e.GP32()
				e.VCMPPS(Imm(unordered), v, v, k)
				e.KMOVW(k, bits)
				e.ORL(bits, found)
				if c.m != nil { // lanes behind the end are -Inf
					w := e.vec()
					e.VMOVUPS(lowest, w)
					e.VBLENDMPS(v, w, c.m.k, v)
				}
			} else {
				u := e.vec()
				e.VCMPPS(Imm(unordered), v, v, u)
				e.VORPS(u, nan, nan)
				if c.m != nil {
					w := e.vec()
					e.VMOVUPS(lowest, w)
					e.VBLENDVPS(c.m.v, v, w, v)
				}
			}
			e.VMAXPS(v, tops[i], tops[i])
		}
	})
	if !e.wide() {
		e.VMOVMSKPS(nan, found)
	}
	top := e.fold(tops, func(a Op, b, dst reg.VecVirtual) { e.VMAXPS(a, b, dst) })
	e.TESTL(found, found)
	e.JZ(LabelRef("number"))
	e.VMOVSS(e.u32(math.Float32bits(float32(math.NaN()))), top)
	e.Label("number")
	e.give(top, e.ReturnIndex(0))
	e.end()
}

// zeros returns n vectors of zeros.
func (e *emitter) zeros(n int) []reg.VecVirtual {
	v := e.vecs(n)
	for _, v := range v {
		e.zero(v)
	}
	return v
}

// doubles converts a vector to float64.
func (e *emitter) doubles(v reg.VecVirtual) (low, high reg.VecVirtual) {
	low, high = e.vec(), e.vec()
	if e.wide() {
		part := e.YMM()
		e.VCVTPS2PD(v.AsY(), low)
		e.VEXTRACTF64X4(Imm(1), v, part)
		e.VCVTPS2PD(part, high)
		return low, high
	}
	part := e.XMM()
	e.VCVTPS2PD(v.AsX(), low)
	e.VEXTRACTF128(Imm(1), v, part)
	e.VCVTPS2PD(part, high)
	return low, high
}

// fold reduces vectors of float32 to the first lane of one.
func (e *emitter) fold(v []reg.VecVirtual, op func(a Op, b, dst reg.VecVirtual)) reg.VecVirtual {
	for n := len(v); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			op(v[i+(n+1)/2], v[i], v[i])
		}
	}
	x := e.quarter(v[0], op)
	t := e.XMM()
	e.VMOVHLPS(x, x, t)
	op(t, x, x)
	e.VMOVSHDUP(x, t)
	op(t, x, x)
	return x
}

// quarter reduces a vector to its first 128 bits.
func (e *emitter) quarter(v reg.VecVirtual, op func(a Op, b, dst reg.VecVirtual)) reg.VecVirtual {
	y := v
	if e.wide() {
		y = e.YMM()
		half := e.YMM()
		e.VEXTRACTF64X4(Imm(1), v, half)
		op(half, v.AsY().(reg.VecVirtual), y)
	}
	x, half := e.XMM(), e.XMM()
	e.VEXTRACTF128(Imm(1), y, half)
	op(half, y.AsX().(reg.VecVirtual), x)
	return x
}

// total reduces vectors of float32 to their sum.
func (e *emitter) total(v []reg.VecVirtual) reg.VecVirtual {
	return e.fold(v, func(a Op, b, dst reg.VecVirtual) { e.VADDPS(a, b, dst) })
}

// returnDouble ends a function with the sum of vectors of float64, rounded to float32 where single.
func (e *emitter) returnDouble(v []reg.VecVirtual, single bool) {
	add := func(a Op, b, dst reg.VecVirtual) { e.VADDPD(a, b, dst) }
	for n := len(v); n > 1; n /= 2 {
		for i := range n / 2 {
			add(v[i+n/2], v[i], v[i])
		}
	}
	x, t := e.quarter(v[0], add), e.XMM()
	e.VUNPCKHPD(x, x, t)
	e.VADDSD(t, x, x)
	if single {
		e.VCVTSD2SS(x, x, x)
		e.give(x, e.ReturnIndex(0))
	} else {
		e.VMOVSD(x, e.place(e.ReturnIndex(0)))
	}
	e.end()
}

// give sets a float32 result to the first lane of v.
func (e *emitter) give(v reg.VecVirtual, result gotypes.Component) { e.VMOVSS(v, e.place(result)) }
