package main

// adamW emits the optimizer's update, one pass over four slices.
func adamW(e *emitter) {
	e.function("adamW", "func(p, m, v, g []float32, scale, beta1, rest1, beta2, rest2, rate, correct2, eps, shrink float32)",
		"updates p, m and v from g: m = beta1*m + rest1*scale*g, v = beta2*v + rest2*(scale*g)^2, p = shrink*p - rate*m/(sqrt(correct2*v)+eps).")
	p, m, v, g, n := e.base("p"), e.base("m"), e.base("v"), e.base("g"), e.length("p")
	scale, beta1, rest1 := e.broadcast("scale"), e.broadcast("beta1"), e.broadcast("rest1")
	beta2, rest2, rate := e.broadcast("beta2"), e.broadcast("rest2"), e.broadcast("rate")
	correct2, eps, shrink := e.broadcast("correct2"), e.broadcast("eps"), e.broadcast("shrink")
	e.each(n, 1, func(c cursor) {
		grad, first, second := c.load(g), c.load(m), c.load(v)
		e.VMULPS(scale, grad, grad)
		e.VMULPS(beta1, first, first)
		e.VFMADD231PS(rest1, grad, first)
		c.store(first, m)
		e.VMULPS(beta2, second, second)
		square := e.vec()
		e.VMULPS(rest2, grad, square)
		e.VFMADD231PS(grad, square, second)
		c.store(second, v)
		e.VMULPS(correct2, second, second)
		e.VSQRTPS(second, second)
		e.VADDPS(eps, second, second)
		e.VMULPS(rate, first, first)
		e.VDIVPS(second, first, first)
		x := c.load(p)
		e.VFMSUB213PS(first, shrink, x)
		c.store(x, p)
	})
	e.end()
}
