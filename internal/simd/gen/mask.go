package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mask says which lanes of a vector a load or store touches: a mask register in AVX-512, sign bits of a vector in
// AVX2. A load through it sets the other lanes to zero; what lies there is not read, so it may be outside of memory.
type mask struct {
	k reg.Register
	v reg.VecVirtual
}

// firstLanes returns the mask of the first n lanes, n in [0, width]. n is a register of 64 bits that is kept.
func (e *emitter) firstLanes(n reg.GPVirtual) mask {
	if e.wide() {
		bits, k := e.GP32(), e.K()
		e.MOVL(U32(1<<e.width-1), bits)
		e.BZHIL(n.As32(), bits, bits)
		e.KMOVW(bits, k)
		return mask{k: k}
	}
	v := e.fill(n.As32().(reg.GPVirtual))
	e.VPCMPGTD(e.lanes(), v, v) // n > lane
	return mask{v: v}
}

// load is a vector from memory, through m if it is not nil.
func (e *emitter) load(from Mem, m *mask) reg.VecVirtual {
	v := e.vec()
	e.loadTo(from, v, m)
	return v
}

func (e *emitter) loadTo(from Mem, v reg.VecVirtual, m *mask) {
	switch {
	case m == nil:
		e.VMOVUPS(from, v)
	case e.wide():
		e.VMOVUPS_Z(from, m.k, v)
	default:
		e.VMASKMOVPS(from, m.v, v)
	}
}

// store writes a vector to memory, through m if it is not nil.
func (e *emitter) store(v reg.VecVirtual, to Mem, m *mask) {
	switch {
	case m == nil:
		e.VMOVUPS(v, to)
	case e.wide():
		e.VMOVUPS(v, m.k, to)
	default:
		e.VMASKMOVPS(v, m.v, to)
	}
}
