package main

import . "github.com/mmcloughlin/avo/operand"

// peak emits the fastest fused multiply-adds there can be, in registers alone: what products are measured against.
func peak(e *emitter) {
	const chains = 12
	e.function("peak", "func(n int)", "runs n rounds of 12 independent fused multiply-adds of vectors.")
	n, sums, x := e.word("n"), e.vecs(chains), e.vec()
	e.zero(x)
	for _, v := range sums {
		e.zero(v)
	}
	e.Label("round")
	for _, v := range sums {
		e.VFMADD231PS(x, x, v)
	}
	e.DECQ(n)
	e.JNZ(LabelRef("round"))
	e.end()
}
