package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convolve emits the depthwise convolution of one vector of channels, for blocks of outputs of different size.
func convolve(e *emitter) {
	for _, block := range []int{8, 12} {
		convolveBlocks(e, block)
	}
}

// convolveBlocks emits out[i] = start + sum over j of tap[j]*x[i+j-pad]. A block of outputs stays in registers while j
// runs through the taps; each tap is loaded once for the block. Where some rows i+j-pad of the block are outside of x,
// each is looked at before it is used; between these taps, the loop is straight. The order of the sum is that of j.
func convolveBlocks(e *emitter, block int) {
	e.function(fmt.Sprintf("convolve%d", block), "func(out *float32, stepOut uintptr, tap *float32, stepTap uintptr, x *float32, stepX uintptr, start *float32, outs, taps, rows, pad, skip int, add bool)",
		fmt.Sprintf("convolves one vector of channels, %d outputs at a time; strides are in bytes, start may be nil, skip lanes are not written.", block))
	last := block - 1
	out, stride, stride3 := e.word("out"), e.word("stepX"), e.GP64()
	e.LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	rows := e.word("rows")

	// Rows 4h to 4h+3 are reached from heads[h]. With several taps at once, the last one reaches that many rows further.
	taps := 4
	if !e.wide() && block > 8 {
		taps = 2 // for want of registers
	}
	heads := make([]reg.GPVirtual, (block+taps+2)/4)
	for h := range heads {
		heads[h] = e.GP64()
	}
	row := func(r int) Mem {
		m := Mem{Base: heads[r/4]}
		switch r % 4 {
		case 1, 2:
			m.Index, m.Scale = stride, uint8(r%4)
		case 3:
			m.Index, m.Scale = stride3, 1
		}
		return m
	}
	sums := e.vecs(block)
	tap := e.GP64()
	first, j := e.GP64(), e.GP64()
	enter, straight, leave := e.AllocLocal(8), e.AllocLocal(8), e.AllocLocal(8)
	e.XORQ(first, first)

	e.Label("block")
	// Taps up to enter and from straight on need the look at each row; leave is the end.
	low, high, t := e.GP64(), e.GP64(), e.GP64()
	atLeastZero := func(v reg.GPVirtual) {
		zero := e.GP64()
		e.XORQ(zero, zero)
		e.TESTQ(v, v)
		e.CMOVQLT(zero, v)
	}
	atMost := func(limit Op, v reg.GPVirtual) {
		e.CMPQ(v, limit)
		e.CMOVQGT(limit, v)
	}
	e.MOVQ(e.address("pad"), low)
	e.SUBQ(first, low) // the first tap of output first that is inside x
	e.MOVQ(low, high)
	e.ADDQ(rows, high) // the end of its taps
	e.LEAQ(Mem{Base: low, Disp: -last}, j)
	atLeastZero(j)
	e.MOVQ(high, t)
	atMost(e.address("taps"), t)
	e.MOVQ(t, leave)
	e.SUBQ(U32(last), high)
	atMost(e.address("taps"), high)
	e.MOVQ(high, straight)
	e.MOVQ(low, high)
	atLeastZero(high)
	atMost(leave, high)
	e.MOVQ(high, enter)

	e.MOVQ(j, t)
	e.SUBQ(low, t) // row of x of the first output at tap j
	e.IMULQ(stride, t)
	e.ADDQ(e.address("x"), t)
	for h, head := range heads {
		if h == 0 {
			e.MOVQ(t, head)
		} else {
			e.LEAQ(Mem{Base: heads[h-1], Index: stride, Scale: 4}, head)
		}
	}
	e.MOVQ(e.address("stepTap"), tap)
	e.IMULQ(j, tap)
	e.ADDQ(e.address("tap"), tap)
	e.NEGQ(low) // from now on, what is added to a tap for the row

	start := e.word("start")
	e.TESTQ(start, start)
	e.JZ(LabelRef("nothing"))
	e.VMOVUPS(Mem{Base: start}, sums[0])
	e.JMP(LabelRef("begin"))
	e.Label("nothing")
	e.zero(sums[0])
	e.Label("begin")
	for _, v := range sums[1:] {
		e.VMOVAPS(sums[0], v)
	}

	w := e.vecs(taps)
	step := e.word("stepTap")
	advance := func() {
		for _, head := range heads {
			e.ADDQ(stride, head)
		}
		e.ADDQ(step, tap)
	}
	// careful emits the taps up to a limit with a look at each row.
	careful := func(limit Mem) {
		next, end := e.label("careful"), e.label("end")
		at := e.GP64()
		e.CMPQ(j, limit)
		e.JGE(LabelRef(end))
		e.Label(next)
		e.VMOVUPS(Mem{Base: tap}, w[0])
		e.LEAQ(Mem{Base: low, Index: j, Scale: 1}, at)
		for r, v := range sums {
			outside := e.label("outside")
			if r > 0 {
				e.INCQ(at)
			}
			e.CMPQ(at, rows)
			e.JCC(LabelRef(outside)) // as unsigned numbers: below zero or at the end
			e.VFMADD231PS(row(r), w[0], v)
			e.Label(outside)
		}
		advance()
		e.INCQ(j)
		e.CMPQ(j, limit)
		e.JL(LabelRef(next))
		e.Label(end)
	}
	careful(enter)
	// All rows of the block have the tap: several taps at a time, so that a row is loaded once for all of them.
	e.SUBQ(Imm(uint64(taps-1)), straight)
	e.CMPQ(j, straight)
	e.JGE(LabelRef("single"))
	e.Label("straight")
	for i := range w {
		e.VMOVUPS(Mem{Base: tap}, w[i])
		e.ADDQ(step, tap)
	}
	for r := range block + taps - 1 {
		x := e.vec()
		e.VMOVUPS(row(r), x)
		for i := range w {
			if o := r - i; o >= 0 && o < block {
				e.VFMADD231PS(x, w[i], sums[o])
			}
		}
		// What lies behind a head is done with: on to the next taps.
		if r%4 == 3 || r == block+taps-2 {
			e.advanceBy(stride, taps, heads[r/4])
		}
	}
	e.ADDQ(Imm(uint64(taps)), j)
	e.CMPQ(j, straight)
	e.JL(LabelRef("straight"))
	e.Label("single")
	e.ADDQ(Imm(uint64(taps-1)), straight)
	e.CMPQ(j, straight)
	e.JGE(LabelRef("done"))
	e.Label("last")
	e.VMOVUPS(Mem{Base: tap}, w[0])
	for r, v := range sums {
		e.VFMADD231PS(row(r), w[0], v)
	}
	advance()
	e.INCQ(j)
	e.CMPQ(j, straight)
	e.JL(LabelRef("last"))
	e.Label("done")
	careful(leave)

	convolveStore(e, sums, first, out)
	e.ADDQ(U32(block), first)
	e.CMPQ(first, e.address("outs"))
	e.JL(LabelRef("block"))
	e.end()
}

// advanceBy adds n strides, 2 or 4, to a pointer.
func (e *emitter) advanceBy(stride reg.GPVirtual, n int, pointer reg.GPVirtual) {
	e.LEAQ(Mem{Base: pointer, Index: stride, Scale: uint8(n)}, pointer)
}

// convolveStore writes the sums that are outputs and leaves out at the next block.
func convolveStore(e *emitter, sums []reg.VecVirtual, first, out reg.GPVirtual) {
	stride := e.word("stepOut")
	left, skip, flag := e.GP64(), e.word("skip"), e.GP32()
	e.MOVQ(e.address("outs"), left)
	e.SUBQ(first, left)
	e.MOVBLZX(e.address("add"), flag)
	e.TESTL(flag, flag)
	e.JZ(LabelRef("write"))
	at := e.GP64()
	e.MOVQ(out, at)
	for r, v := range sums {
		e.CMPQ(left, U32(r))
		e.JLE(LabelRef("write"))
		e.VADDPS(Mem{Base: at}, v, v)
		e.ADDQ(stride, at)
	}
	e.Label("write")
	e.TESTQ(skip, skip)
	e.JNZ(LabelRef("part"))
	write := func(m *mask, check bool) {
		for r, v := range sums {
			if r > 0 && check {
				e.CMPQ(left, U32(r))
				e.JLE(LabelRef("written"))
			}
			e.store(v, Mem{Base: out}, m)
			e.ADDQ(stride, out)
		}
		e.JMP(LabelRef("written"))
	}
	e.CMPQ(left, U32(len(sums)))
	e.JL(LabelRef("few"))
	write(nil, false)
	e.Label("few")
	write(nil, true)
	e.Label("part")
	m := e.allButFirst(skip)
	write(&m, true)
	e.Label("written")
}

// allButFirst returns the mask of the lanes from n on.
func (e *emitter) allButFirst(n reg.GPVirtual) mask {
	m := e.firstLanes(n)
	if e.wide() {
		e.KNOTW(m.k, m.k)
		return m
	}
	ones := e.vec()
	e.VPCMPEQD(ones, ones, ones)
	e.VPXOR(ones, m.v, m.v)
	return m
}
