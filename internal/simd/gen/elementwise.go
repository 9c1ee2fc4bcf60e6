package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// light is how many vectors a round of a loop takes whose body is an instruction or two.
const light = 4

// heavy is how many vectors go side by side through exp.
func (s isa) heavy() int {
	if s.wide() {
		return 4
	}
	return 3
}

// elementwise emits the functions of single elements.
func elementwise(e *emitter) {
	unary := func(name, doc string, f func(x []reg.VecVirtual) []reg.VecVirtual) {
		e.function(name, "func(dst, x []float32)", doc)
		dst, x, n := e.base("dst"), e.base("x"), e.length("dst")
		e.over(n, e.heavy(), func(cs []cursor) {
			for i, y := range f(loadAll(cs, x)) {
				cs[i].store(y, dst)
			}
		})
		e.end()
	}
	unary("exp", "sets dst = exp(x).", e.exp)
	unary("swish", "sets dst = x*sigmoid(x).", e.swish)

	e.function("relu", "func(dst, x []float32)", "sets dst = x where x > 0 or NaN, else 0.")
	dst, x, n, zero := e.base("dst"), e.base("x"), e.length("dst"), e.vec()
	e.zero(zero)
	e.each(n, light, func(c cursor) {
		v := c.load(x)
		e.VMAXPS(v, zero, v) // the first operand where it is NaN
		c.store(v, dst)
	})
	e.end()

	e.function("reluGrad", "func(dx, y, dy []float32)", "sets dx = dy where y > 0, else 0.")
	dx, y, dy, n := e.base("dx"), e.base("y"), e.base("dy"), e.length("dx")
	zero = e.vec()
	e.zero(zero)
	e.each(n, light, func(c cursor) {
		const less = 0x11 // false for NaN
		v, g := c.load(y), c.load(dy)
		if e.wide() {
			k := e.K()
			e.VCMPPS(Imm(less), v, zero, k)
			e.VMOVAPS_Z(g, k, g)
		} else {
			e.VCMPPS(Imm(less), v, zero, v)
			e.VANDPS(v, g, g)
		}
		c.store(g, dx)
	})
	e.end()

	e.function("swishGrad", "func(dx, x, dy []float32)", "sets dx = dy*s*(1+x*(1-s)), s = sigmoid(x).")
	dx, x, dy, n = e.base("dx"), e.base("x"), e.base("dy"), e.length("dx")
	e.over(n, e.heavy(), func(cs []cursor) {
		for i, s := range e.swishSlope(loadAll(cs, x)) {
			e.VMULPS(cs[i].load(dy), s, s)
			cs[i].store(s, dx)
		}
	})
	e.end()

	gated(e)
	arithmetic(e)
}

// gated emits the gated linear unit.
func gated(e *emitter) {
	e.function("glu", "func(dst, a, b []float32)", "sets dst = a*sigmoid(b).")
	dst, a, b, n := e.base("dst"), e.base("a"), e.base("b"), e.length("dst")
	e.over(n, e.heavy(), func(cs []cursor) {
		for i, s := range e.sigmoid(loadAll(cs, b)) {
			e.VMULPS(cs[i].load(a), s, s)
			cs[i].store(s, dst)
		}
	})
	e.end()

	e.function("gluGrad", "func(da, db, a, b, dy []float32)", "sets da = dy*s and db = dy*a*s*(1-s), s = sigmoid(b).")
	da, db, a, b, dy, n := e.base("da"), e.base("db"), e.base("a"), e.base("b"), e.base("dy"), e.length("da")
	e.over(n, e.heavy(), func(cs []cursor) {
		ss, ts := e.sigmoids(loadAll(cs, b))
		for i, c := range cs {
			s, t := ss[i], ts[i]
			e.VMULPS(c.load(dy), s, s) // dy*s
			e.VMULPS(c.load(a), t, t)  // a*(1-s)
			e.VMULPS(s, t, t)
			c.store(s, da)
			c.store(t, db)
		}
	})
	e.end()
}

// arithmetic emits sums and products of slices.
func arithmetic(e *emitter) {
	binary := func(name, doc string, f func(a, b reg.VecVirtual, c cursor, dst reg.Register) reg.VecVirtual) {
		e.function(name, "func(dst, a, b []float32)", doc)
		dst, a, b, n := e.base("dst"), e.base("a"), e.base("b"), e.length("dst")
		e.each(n, light, func(c cursor) { c.store(f(c.load(a), c.load(b), c, dst), dst) })
		e.end()
	}
	binary("add", "sets dst = a + b.", func(a, b reg.VecVirtual, _ cursor, _ reg.Register) reg.VecVirtual {
		e.VADDPS(b, a, a)
		return a
	})
	binary("mulAdd", "adds a*b to dst.", func(a, b reg.VecVirtual, c cursor, dst reg.Register) reg.VecVirtual {
		sum := c.load(dst)
		e.VFMADD231PS(a, b, sum)
		return sum
	})

	e.function("addScaled", "func(dst, a []float32, alpha float32, b []float32)", "sets dst = a + alpha*b.")
	dst, a, b, n, alpha := e.base("dst"), e.base("a"), e.base("b"), e.length("dst"), e.broadcast("alpha")
	e.each(n, light, func(c cursor) {
		sum, v := c.load(a), c.load(b)
		e.VFMADD231PS(alpha, v, sum)
		c.store(sum, dst)
	})
	e.end()

	scaled := func(name, doc string, f func(v, alpha reg.VecVirtual, c cursor, dst reg.Register) reg.VecVirtual) {
		e.function(name, "func(dst []float32, alpha float32, x []float32)", doc)
		dst, x, n, alpha := e.base("dst"), e.base("x"), e.length("dst"), e.broadcast("alpha")
		e.each(n, light, func(c cursor) { c.store(f(c.load(x), alpha, c, dst), dst) })
		e.end()
	}
	scaled("scale", "sets dst = alpha*x.", func(v, alpha reg.VecVirtual, _ cursor, _ reg.Register) reg.VecVirtual {
		e.VMULPS(alpha, v, v)
		return v
	})
	scaled("shift", "sets dst = x + alpha.", func(v, alpha reg.VecVirtual, _ cursor, _ reg.Register) reg.VecVirtual {
		e.VADDPS(alpha, v, v)
		return v
	})
	scaled("approach", "moves dst by a share alpha of the way to x.", func(v, alpha reg.VecVirtual, c cursor, dst reg.Register) reg.VecVirtual {
		at := c.load(dst)
		e.VSUBPS(at, v, v)
		e.VFMADD231PS(alpha, v, at)
		return at
	})
	scaled("axpy", "adds alpha*x to dst.", func(v, alpha reg.VecVirtual, c cursor, dst reg.Register) reg.VecVirtual {
		sum := c.load(dst)
		e.VFMADD231PS(alpha, v, sum)
		return sum
	})
}
