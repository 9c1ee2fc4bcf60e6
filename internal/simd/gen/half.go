package main

import . "github.com/mmcloughlin/avo/operand"

// half emits the conversions to and from binary16, for whole vectors only.
func half(e *emitter) {
	const toNearest = 0
	e.function("toHalf", "func(dst []uint16, x []float32)", "rounds whole vectors of x to binary16.")
	dst, x, n := e.base("dst"), e.base("x"), e.length("dst")
	e.wholeVectors(n, func() {
		e.VCVTPS2PH(Imm(toNearest), e.load(Mem{Base: x}, nil), Mem{Base: dst})
		e.ADDQ(U32(e.bytes()), x)
		e.ADDQ(U32(e.bytes()/2), dst)
	})
	e.function("fromHalf", "func(dst []float32, x []uint16)", "converts whole vectors of binary16.")
	dst, x, n = e.base("dst"), e.base("x"), e.length("dst")
	e.wholeVectors(n, func() {
		v := e.vec()
		e.VCVTPH2PS(Mem{Base: x}, v)
		e.store(v, Mem{Base: dst}, nil)
		e.ADDQ(U32(e.bytes()/2), x)
		e.ADDQ(U32(e.bytes()), dst)
	})
}

// wholeVectors repeats body while n counts a vector, and returns.
func (e *emitter) wholeVectors(n Op, body func()) {
	e.SUBQ(U32(e.width), n)
	e.JL(LabelRef("end"))
	e.Label("loop")
	body()
	e.SUBQ(U32(e.width), n)
	e.JGE(LabelRef("loop"))
	e.Label("end")
	e.end()
}
