package main

import (
	. "github.com/mmcloughlin/avo/operand"
)

// rows emits the steps of the row functions: what of a row needs a sum before it goes on.
func rows(e *emitter) {
	softmaxSteps(e)
	normSteps(e)
	biasRows(e)
}

func softmaxSteps(e *emitter) {
	for _, keep := range []bool{true, false} {
		if keep {
			e.function("expSum", "func(dst, x []float32, top float32) float32", "sets dst = exp(x-top), for x <= top, and returns the sum.")
		} else {
			e.function("sumExp", "func(x []float32, top float32) float32", "returns the sum of exp(x-top), for x <= top.")
		}
		x, n, top, sums := e.base("x"), e.length("x"), e.broadcast("top"), e.zeros(e.heavy())
		dst := x
		if keep {
			dst = e.base("dst")
		}
		e.over(n, len(sums), func(cs []cursor) {
			v := loadAll(cs, x)
			for i := range v {
				e.VSUBPS(top, v[i], v[i])
			}
			for i, y := range e.expNegative(v) {
				if keep {
					cs[i].store(y, dst)
				}
				cs[i].clip(y)
				e.VADDPS(y, sums[i], sums[i])
			}
		})
		e.give(e.total(sums), e.ReturnIndex(0))
		e.end()
	}

	e.function("dotShort", "func(a, b []float32) float32", "returns the sum of a*b, accumulated in float32.")
	a, b, n := e.base("a"), e.base("b"), e.length("a")
	sums := e.zeros(light)
	e.over(n, light, func(cs []cursor) {
		for i, c := range cs {
			v, w := c.load(a), c.load(b)
			e.VFMADD231PS(v, w, sums[i])
		}
	})
	e.give(e.total(sums), e.ReturnIndex(0))
	e.end()

	e.function("mulShifted", "func(ds, p, dp []float32, dot float32)", "sets ds = p*(dp-dot).")
	ds, p, dp, n, dot := e.base("ds"), e.base("p"), e.base("dp"), e.length("ds"), e.broadcast("dot")
	e.each(n, light, func(c cursor) {
		v, w := c.load(dp), c.load(p)
		e.VSUBPS(dot, v, v)
		e.VMULPS(w, v, v)
		c.store(v, ds)
	})
	e.end()
}

func normSteps(e *emitter) {
	e.function("sumShort", "func(x []float32) float32", "returns the sum, accumulated in float32.")
	x, n, sums := e.base("x"), e.length("x"), e.zeros(light)
	e.over(n, light, func(cs []cursor) {
		for i, c := range cs {
			e.VADDPS(c.load(x), sums[i], sums[i])
		}
	})
	e.give(e.total(sums), e.ReturnIndex(0))
	e.end()

	e.function("deviation", "func(x []float32, mean float32) float32", "returns the sum of (x-mean)^2.")
	x, n, sums = e.base("x"), e.length("x"), e.zeros(light)
	mean := e.broadcast("mean")
	e.over(n, light, func(cs []cursor) {
		for i, c := range cs {
			v := c.load(x)
			e.VSUBPS(mean, v, v)
			c.clip(v)
			e.VFMADD231PS(v, v, sums[i])
		}
	})
	e.give(e.total(sums), e.ReturnIndex(0))
	e.end()

	e.function("normalize", "func(dst, x, gamma, beta []float32, mean, scale float32)", "sets dst = (x-mean)*scale*gamma + beta.")
	dst, x, gamma, beta, n := e.base("dst"), e.base("x"), e.base("gamma"), e.base("beta"), e.length("dst")
	mean, scale := e.broadcast("mean"), e.broadcast("scale")
	e.each(n, 2, func(c cursor) {
		v, g, b := c.load(x), c.load(gamma), c.load(beta)
		e.VSUBPS(mean, v, v)
		e.VMULPS(scale, v, v)
		e.VFMADD213PS(b, g, v)
		c.store(v, dst)
	})
	e.end()

	e.function("normGradSums", "func(dgamma, dbeta, x, gamma, dy []float32, mean, scale float32) (sum, moment float32)",
		"adds dy*h to dgamma and dy to dbeta, h = (x-mean)*scale, and returns the sums of dy*gamma and dy*gamma*h.")
	dgamma, dbeta, x := e.base("dgamma"), e.base("dbeta"), e.base("x")
	gamma, dy, n := e.base("gamma"), e.base("dy"), e.length("x")
	mean, scale = e.broadcast("mean"), e.broadcast("scale")
	sums = e.zeros(4)
	e.over(n, 2, func(cs []cursor) {
		for i, c := range cs {
			v, d, g := c.load(x), c.load(dy), c.load(gamma)
			e.VSUBPS(mean, v, v)
			e.VMULPS(scale, v, v)
			t := c.load(dgamma)
			e.VFMADD231PS(d, v, t)
			c.store(t, dgamma)
			t = c.load(dbeta)
			e.VADDPS(d, t, t)
			c.store(t, dbeta)
			e.VMULPS(d, g, g)
			e.VADDPS(g, sums[i], sums[i])
			c.clip(v)
			e.VFMADD231PS(g, v, sums[2+i])
		}
	})
	e.give(e.total(sums[:2]), e.Return("sum"))
	e.give(e.total(sums[2:]), e.Return("moment"))
	e.end()

	e.function("normGradInput", "func(dx, x, gamma, dy []float32, mean, scale, meanG, meanGH float32)",
		"sets dx = scale*(dy*gamma - meanG - h*meanGH), h = (x-mean)*scale.")
	dx, x, gamma, dy, n := e.base("dx"), e.base("x"), e.base("gamma"), e.base("dy"), e.length("dx")
	mean, scale = e.broadcast("mean"), e.broadcast("scale")
	g, gh := e.broadcast("meanG"), e.broadcast("meanGH")
	e.each(n, 2, func(c cursor) {
		v, d, w := c.load(x), c.load(dy), c.load(gamma)
		e.VSUBPS(mean, v, v)
		e.VMULPS(scale, v, v)
		e.VFMSUB213PS(g, w, d) // dy*gamma - g
		e.VFNMADD231PS(gh, v, d)
		e.VMULPS(scale, d, d)
		c.store(d, dx)
	})
	e.end()
}

// biasRows emits the functions of a matrix and one row.
func biasRows(e *emitter) {
	e.function("setRows", "func(dst []float32, rows int, bias []float32)", "sets each row of dst to bias.")
	dst, count, bias, n := e.base("dst"), e.word("rows"), e.base("bias"), e.length("bias")
	e.TESTQ(count, count)
	e.JZ(LabelRef("none"))
	e.Label("row")
	e.each(n, light, func(c cursor) { c.store(c.load(bias), dst) })
	e.LEAQ(Mem{Base: dst, Index: n, Scale: 4}, dst)
	e.DECQ(count)
	e.JNZ(LabelRef("row"))
	e.Label("none")
	e.end()

	e.function("columnSum", "func(dst []float32, rows int, x []float32)", "adds the rows of x to dst.")
	dst, count, n = e.base("dst"), e.word("rows"), e.length("dst")
	x := e.base("x")
	e.TESTQ(count, count)
	e.JZ(LabelRef("none"))
	e.over(n, 8, func(cs []cursor) {
		next := e.label("row")
		from, left := e.GP64(), e.GP64()
		e.MOVQ(x, from)
		e.MOVQ(count, left)
		sums := e.vecs(len(cs))
		for i, c := range cs {
			e.loadTo(c.at(dst), sums[i], c.m)
		}
		e.Label(next)
		for i, c := range cs {
			if c.m == nil {
				e.VADDPS(c.at(from), sums[i], sums[i])
			} else {
				e.VADDPS(c.load(from), sums[i], sums[i])
			}
		}
		e.LEAQ(Mem{Base: from, Index: n, Scale: 4}, from)
		e.DECQ(left)
		e.JNZ(LabelRef(next))
		for i, c := range cs {
			c.store(sums[i], dst)
		}
	})
	e.Label("none")
	e.end()
}
