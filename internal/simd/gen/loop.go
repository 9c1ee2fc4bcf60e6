package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cursor is the place of one vector in slices that run side by side.
type cursor struct {
	e     *emitter
	index reg.GPVirtual
	disp  int
	m     *mask // nil for a whole vector
}

func (c cursor) at(base reg.Register) Mem {
	return Mem{Base: base, Index: c.index, Scale: 4, Disp: c.disp}
}

func (c cursor) load(base reg.Register) reg.VecVirtual     { return c.e.load(c.at(base), c.m) }
func (c cursor) store(v reg.VecVirtual, base reg.Register) { c.e.store(v, c.at(base), c.m) }

// loadAll loads a vector at each cursor.
func loadAll(cs []cursor, base reg.Register) []reg.VecVirtual {
	v := make([]reg.VecVirtual, len(cs))
	for i, c := range cs {
		v[i] = c.load(base)
	}
	return v
}

// clip sets the lanes behind the end of the slices to zero.
func (c cursor) clip(v reg.VecVirtual) {
	switch {
	case c.m == nil:
	case c.e.wide():
		c.e.VMOVAPS_Z(v, c.m.k, v)
	default:
		c.e.VANDPS(c.m.v, v, v)
	}
}

// over emits loops over n floats (a register, kept): group vectors at a time while there are so many, then one at a
// time, then the lanes that are left. body handles the vectors it is given, which differ in their displacement.
func (e *emitter) over(n reg.GPVirtual, group int, body func(c []cursor)) {
	index, limit := e.GP64(), e.GP64()
	e.XORQ(index, index)
	loop := func(group int) {
		next, end := e.label("loop"), e.label("end")
		e.MOVQ(n, limit)
		e.SUBQ(U32(group*e.width), limit)
		e.CMPQ(index, limit)
		e.JG(LabelRef(end))
		e.Label(next)
		c := make([]cursor, group)
		for i := range c {
			c[i] = cursor{e: e, index: index, disp: i * e.bytes()}
		}
		body(c)
		e.ADDQ(U32(group*e.width), index)
		e.CMPQ(index, limit)
		e.JLE(LabelRef(next))
		e.Label(end)
	}
	if group > 1 {
		loop(group)
	}
	loop(1)
	done := e.label("done")
	e.MOVQ(n, limit)
	e.SUBQ(index, limit)
	e.JZ(LabelRef(done))
	m := e.firstLanes(limit)
	body([]cursor{{e: e, index: index, m: &m}})
	e.Label(done)
}

// each is over with a body for one vector.
func (e *emitter) each(n reg.GPVirtual, group int, body func(c cursor)) {
	e.over(n, group, func(cs []cursor) {
		for _, c := range cs {
			body(c)
		}
	})
}
