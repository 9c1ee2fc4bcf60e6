package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gemm emits one kernel for each height and width of a tile.
func gemm(e *emitter) {
	for rows := 1; rows <= e.rows; rows++ {
		for vectors := 1; vectors <= 2; vectors++ {
			tile(e, rows, vectors)
		}
	}
}

// tile emits C = alpha*A·B + beta*C for a strip of C: panels tiles of rows x (vectors*width), one below the other.
// The sums of a tile stay in registers from the first k to the last, each in one chain of fused multiply-adds, so that
// an element has the same bits in a tile of any size. A and B are read where the strides say, packed or in place.
func tile(e *emitter, rows, vectors int) {
	const unroll = 4
	e.function(fmt.Sprintf("gemm%dx%d", rows, vectors),
		"func(panels, depth int, a *float32, rowA, stepA, panelA uintptr, b *float32, stepB uintptr, c *float32, rowC uintptr, bias *float32, alpha, beta float32, tail int)",
		fmt.Sprintf("multiplies panels tiles of %d rows and %d vectors; strides are in bytes, tail lanes of the last vector count. A bias that isn't nil is added to each row where beta is 0.", rows, vectors))
	depth, a, rowA, stepA := e.word("depth"), e.word("a"), e.word("rowA"), e.word("stepA")
	stepB, c, rowC := e.word("stepB"), e.word("c"), e.word("rowC")

	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		sums[i] = e.vecs(vectors)
	}
	spares := 1
	if e.wide() {
		spares = 4
	} else if rows*vectors+vectors+2 <= 16 {
		spares = 2
	}
	row, spare := e.vecs(vectors), e.vecs(spares)

	next := e.label("panel")
	e.Label(next)
	// Rows i, i+1 and i+2 are reached from one pointer.
	heads := make([]reg.GPVirtual, (rows+2)/3)
	for h := range heads {
		heads[h] = e.GP64()
		if h == 0 {
			e.MOVQ(a, heads[0])
		} else {
			e.LEAQ(Mem{Base: heads[h-1], Index: rowA, Scale: 2}, heads[h])
			e.ADDQ(rowA, heads[h])
		}
	}
	b, count := e.word("b"), e.GP64()
	for i := range sums {
		for _, v := range sums[i] {
			e.zero(v)
		}
	}
	step := func() {
		for j, v := range row {
			e.VMOVUPS(Mem{Base: b, Disp: j * e.bytes()}, v)
		}
		e.ADDQ(stepB, b)
		for i := range sums {
			x, from := spare[i%spares], Mem{Base: heads[i/3]}
			if i%3 > 0 {
				from.Index, from.Scale = rowA, uint8(i%3)
			}
			e.VBROADCASTSS(from, x)
			for j, v := range row {
				e.VFMADD231PS(x, v, sums[i][j])
			}
			if i%3 == 2 || i == rows-1 {
				e.ADDQ(stepA, heads[i/3])
			}
		}
	}
	whole, rest, single, done := e.label("whole"), e.label("rest"), e.label("single"), e.label("done")
	e.MOVQ(depth, count)
	e.SUBQ(Imm(unroll), count)
	e.JL(LabelRef(rest))
	e.Label(whole)
	for range unroll {
		step()
	}
	e.SUBQ(Imm(unroll), count)
	e.JGE(LabelRef(whole))
	e.Label(rest)
	e.ADDQ(Imm(unroll), count)
	e.JZ(LabelRef(done))
	e.Label(single)
	step()
	e.DECQ(count)
	e.JNZ(LabelRef(single))
	e.Label(done)

	tileStore(e, sums, c, rowC)
	panelA := e.word("panelA")
	e.ADDQ(panelA, a)
	e.DECQ(e.address("panels"))
	e.JNZ(LabelRef(next))
	e.end()
}

// tileStore writes a tile and leaves c at the next one.
func tileStore(e *emitter, sums [][]reg.VecVirtual, c, rowC reg.GPVirtual) {
	vectors := len(sums[0])
	alpha, beta, tail := e.broadcast("alpha"), e.vec(), e.word("tail")
	fresh, end := e.label("fresh"), e.label("stored")
	biased := e.label("biased")
	write := func(add, bias bool, m *mask) {
		var row []reg.VecVirtual
		if bias {
			from := e.word("bias")
			for j := range vectors {
				lanes := m
				if j < vectors-1 {
					lanes = nil
				}
				row = append(row, e.load(Mem{Base: from, Disp: j * e.bytes()}, lanes))
			}
		}
		for i := range sums {
			for j, v := range sums[i] {
				at, lanes := Mem{Base: c, Disp: j * e.bytes()}, m
				if j < vectors-1 {
					lanes = nil
				}
				if bias {
					e.VFMADD213PS(row[j], alpha, v)
				} else {
					e.VMULPS(alpha, v, v)
				}
				if add {
					old := e.load(at, lanes)
					e.VFMADD231PS(old, beta, v)
				}
				e.store(v, at, lanes)
			}
			e.ADDQ(rowC, c)
		}
	}
	// both writes the tile with and, where a tail of all lanes needs no mask, without one.
	both := func(add, bias bool) {
		if e.wide() {
			m := e.firstLanes(tail)
			write(add, bias, &m)
			return
		}
		part, over := e.label("part"), e.label("over")
		e.CMPQ(tail, U32(e.width))
		e.JNE(LabelRef(part))
		write(add, bias, nil)
		e.JMP(LabelRef(over))
		e.Label(part)
		m := e.firstLanes(tail)
		write(add, bias, &m)
		e.Label(over)
	}
	// beta is 0 or -0 if nothing is left without its sign; C is not read then.
	bits := e.GP32()
	e.MOVL(e.address("beta"), bits)
	e.SHLL(Imm(1), bits)
	e.JZ(LabelRef(fresh))
	e.VBROADCASTSS(e.address("beta"), beta)
	both(true, false)
	e.JMP(LabelRef(end))
	e.Label(fresh)
	e.CMPQ(e.address("bias"), Imm(0))
	e.JNE(LabelRef(biased))
	both(false, false)
	e.JMP(LabelRef(end))
	e.Label(biased)
	both(false, true)
	e.Label(end)
}
