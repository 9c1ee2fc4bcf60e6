package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pack emits the copies that bring panels of matrices together.
func pack(e *emitter) {
	copyPanel(e)
	copyPanels(e, 1)
	copyPanels(e, 2)
	if !e.wide() {
		transposePanel(e)
	}
}

// copyPanel emits the copy of lanes that lie together, depth rows of them.
func copyPanel(e *emitter) {
	e.function("copyPanel", "func(dst *float32, stepDst uintptr, src *float32, stepSrc uintptr, depth, lanes int)",
		"copies depth rows of lanes floats, up to two vectors; strides are in bytes. It writes whole vectors, with zeros behind the lanes.")
	dst, stepDst, src, stepSrc := e.word("dst"), e.word("stepDst"), e.word("src"), e.word("stepSrc")
	depth, lanes := e.word("depth"), e.word("lanes")
	loop := func(vectors int, m *mask) {
		next := e.label("row")
		e.Label(next)
		for j := range vectors {
			at := m
			if j < vectors-1 {
				at = nil
			}
			v := e.load(Mem{Base: src, Disp: j * e.bytes()}, at)
			e.VMOVUPS(v, Mem{Base: dst, Disp: j * e.bytes()})
		}
		e.ADDQ(stepSrc, src)
		e.ADDQ(stepDst, dst)
		e.DECQ(depth)
		e.JNZ(LabelRef(next))
		e.end()
	}
	two, part := e.label("two"), e.label("part")
	e.CMPQ(lanes, U32(e.width))
	e.JG(LabelRef(two))
	m := e.firstLanes(lanes)
	loop(1, &m)
	e.Label(two)
	e.CMPQ(lanes, U32(2*e.width))
	e.JNE(LabelRef(part))
	loop(2, nil)
	e.Label(part)
	e.SUBQ(U32(e.width), lanes)
	m = e.firstLanes(lanes)
	loop(2, &m)
}

// copyPanels emits the copy of several panels at once, row by row, so that each row of the source is read from its
// start to its end: caches and prefetchers like that better than one panel after the other.
func copyPanels(e *emitter, vectors int) {
	e.function(fmt.Sprintf("copyPanels%d", vectors),
		"func(dst *float32, stepDst, panelDst uintptr, src *float32, stepSrc, panelSrc uintptr, depth, panels int)",
		fmt.Sprintf("copies depth rows of panels panels of %d vectors; steps from row to row and from panel to panel are in bytes. Whole vectors are read and written.", vectors))
	dst, stepDst, panelDst := e.word("dst"), e.word("stepDst"), e.word("panelDst")
	src, stepSrc, panelSrc := e.word("src"), e.word("stepSrc"), e.word("panelSrc")
	depth, row, panel := e.word("depth"), e.label("row"), e.label("panel")
	e.Label(row)
	from, to, count := e.GP64(), e.GP64(), e.word("panels")
	e.MOVQ(src, from)
	e.MOVQ(dst, to)
	e.Label(panel)
	for j := range vectors {
		v := e.load(Mem{Base: from, Disp: j * e.bytes()}, nil)
		e.VMOVUPS(v, Mem{Base: to, Disp: j * e.bytes()})
	}
	e.ADDQ(panelSrc, from)
	e.ADDQ(panelDst, to)
	e.DECQ(count)
	e.JNZ(LabelRef(panel))
	e.ADDQ(stepSrc, src)
	e.ADDQ(stepDst, dst)
	e.DECQ(depth)
	e.JNZ(LabelRef(row))
	e.end()
}

// transposePanel emits the copy of lanes that are rows in memory: blocks of 8 rows and 8 columns, turned in registers.
// Lanes that a last block of rows lacks are copies of its last row.
func transposePanel(e *emitter) {
	e.function("transposePanel", "func(dst *float32, stepDst uintptr, src *float32, stepSrc uintptr, depth, lanes int)",
		"copies src [lanes][depth] to dst [depth][lanes], in blocks of 8x8: depth must be a multiple of 8, and dst have room for as many lanes; strides are in bytes.")
	dst, stepDst, src, stepSrc := e.word("dst"), e.word("stepDst"), e.word("src"), e.word("stepSrc")
	lanes := e.word("lanes")
	block := e.label("lanes")
	e.Label(block)
	rows := make([]reg.GPVirtual, 8)
	for i := range rows {
		rows[i] = e.GP64()
		if i == 0 {
			e.MOVQ(src, rows[0])
			continue
		}
		e.LEAQ(Mem{Base: rows[i-1], Index: stepSrc, Scale: 1}, rows[i])
		e.CMPQ(lanes, U32(i))
		e.CMOVQLE(rows[i-1], rows[i])
	}
	depth, out := e.word("depth"), e.GP64()
	e.MOVQ(dst, out)
	columns := e.label("columns")
	e.Label(columns)
	// v[i] holds columns 0..3 of row i and of row i+4, v[i+4] columns 4..7 of both.
	v := e.vecs(8)
	for half := range 2 {
		for i := range 4 {
			x := e.XMM()
			e.VMOVUPS(Mem{Base: rows[i], Disp: 16 * half}, x)
			e.VINSERTF128(Imm(1), Mem{Base: rows[i+4], Disp: 16 * half}, x.AsY(), v[4*half+i])
		}
	}
	for half := range 2 {
		w := v[4*half:][:4]
		lo01, hi01, lo23, hi23 := e.vec(), e.vec(), e.vec(), e.vec()
		e.VUNPCKLPS(w[1], w[0], lo01)
		e.VUNPCKHPS(w[1], w[0], hi01)
		e.VUNPCKLPS(w[3], w[2], lo23)
		e.VUNPCKHPS(w[3], w[2], hi23)
		for _, pair := range [2][2]reg.VecVirtual{{lo01, lo23}, {hi01, hi23}} {
			for _, order := range []uint64{0x44, 0xee} {
				t := e.vec()
				e.VSHUFPS(Imm(order), pair[1], pair[0], t)
				e.VMOVUPS(t, Mem{Base: out})
				e.ADDQ(stepDst, out)
			}
		}
	}
	for i := range rows {
		e.ADDQ(Imm(32), rows[i])
	}
	e.SUBQ(Imm(8), depth)
	e.JG(LabelRef(columns))
	e.LEAQ(Mem{Base: src, Index: stepSrc, Scale: 8}, src)
	e.ADDQ(Imm(32), dst)
	e.SUBQ(Imm(8), lanes)
	e.JG(LabelRef(block))
	e.end()
}
