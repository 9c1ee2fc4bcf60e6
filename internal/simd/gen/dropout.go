package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Multipliers and key steps of Philox4x32.
const (
	philoxMul0, philoxMul1   = 0xd2511f53, 0xcd9e8d57
	philoxStep0, philoxStep1 = 0x9e3779b9, 0xbb67ae85
	philoxRounds             = 7
)

// dropout emits the functions that zero the elements whose draw is below a threshold.
func dropout(e *emitter) {
	const more = "scale float32, threshold, row, site, key0, key1 uint32)"
	for _, f := range []struct {
		name, doc string
		f         func(x []reg.VecVirtual) []reg.VecVirtual
	}{
		{"dropout", "sets dst = drop(x).", func(x []reg.VecVirtual) []reg.VecVirtual { return x }},
		{"swishDropout", "sets dst = drop(swish(x)).", e.swish},
	} {
		e.function(f.name, "func(dst, x []float32, "+more, f.doc)
		dst, x := e.base("dst"), e.base("x")
		e.drop(func(cs []cursor, drop func(i int, v reg.VecVirtual)) {
			for i, v := range f.f(loadAll(cs, x)) {
				drop(i, v)
				cs[i].store(v, dst)
			}
		})
	}

	e.function("addDropout", "func(dst, x, y []float32, alpha, "+more, "sets dst = x + alpha*drop(y).")
	dst, x, y, alpha := e.base("dst"), e.base("x"), e.base("y"), e.broadcast("alpha")
	e.drop(func(cs []cursor, drop func(i int, v reg.VecVirtual)) {
		for i, c := range cs {
			v, sum := c.load(y), c.load(x)
			drop(i, v)
			e.VFMADD231PS(alpha, v, sum)
			c.store(sum, dst)
		}
	})

	e.function("swishDropoutGrad", "func(dst, x, dy []float32, "+more, "sets dst = drop(dy)*swish'(x).")
	dst, x, y = e.base("dst"), e.base("x"), e.base("dy")
	e.drop(func(cs []cursor, drop func(i int, v reg.VecVirtual)) {
		for i, v := range e.swishSlope(loadAll(cs, x)) {
			e.VMULPS(cs[i].load(y), v, v)
			drop(i, v)
			cs[i].store(v, dst)
		}
	})
}

// held is a constant of a loop: a register in AVX-512, a place in the stack frame in AVX2, where registers are few.
func (e *emitter) held(v reg.VecVirtual) Op {
	if e.wide() {
		return v
	}
	m := e.AllocLocal(e.bytes())
	e.VMOVUPS(v, m)
	return m
}

// philox is the constants of the draws of one row. Counter words 1 to 3 are the same for all elements, so that in the
// first two rounds half of the words are single numbers.
type philox struct {
	mul0, mul1 Op
	key1       Op      // round 1, word 2
	word0      Op      // round 2: lo(site*mul1) ^ key
	word2      Op      // round 2: hi(word*mul0) ^ key
	word3      Op      // round 3: lo(word*mul0) ^ key
	keys       [][2]Op // of each later round; [0][1] is in word3
}

func (e *emitter) philox() philox {
	key0, key1, row, site := e.GP32(), e.GP32(), e.GP32(), e.GP32()
	e.Load(e.Param("row"), row)
	e.Load(e.Param("site"), site)
	e.Load(e.Param("key0"), key0)
	e.Load(e.Param("key1"), key1)
	vector := func(r reg.GPVirtual) Op { return e.held(e.fill(r)) }
	number := func(n uint32) Op {
		v := e.vec()
		e.VMOVUPS(e.u32(n), v)
		return e.held(v)
	}
	step := func() {
		e.ADDL(U32(philoxStep0), key0)
		e.ADDL(U32(philoxStep1), key1)
	}
	// product leaves the low word of r*by in r and returns the high word.
	product := func(r reg.GPVirtual, by uint32) reg.GPVirtual {
		high, factor := e.GP64(), e.GP32()
		e.MOVL(U32(by), factor)
		e.MOVL(r, high.As32())
		e.IMULQ(factor.As64(), high)
		e.MOVL(high.As32(), r)
		e.SHRQ(Imm(32), high)
		return high.As32().(reg.GPVirtual)
	}
	p := philox{mul0: number(philoxMul0), mul1: number(philoxMul1), key1: vector(key1)}
	word0 := product(site, philoxMul1) // site is the low word now
	e.XORL(row, word0)
	e.XORL(key0, word0)
	step()
	e.XORL(key0, site)
	p.word0 = vector(site)
	word2 := product(word0, philoxMul0)
	e.XORL(key1, word2)
	p.word2 = vector(word2)
	step()
	e.XORL(key1, word0)
	p.word3 = vector(word0)
	p.keys = append(p.keys, [2]Op{vector(key0), nil})
	for range philoxRounds - 3 {
		step()
		p.keys = append(p.keys, [2]Op{vector(key0), vector(key1)})
	}
	return p
}

// words returns the four random words of counters that stand in the low halves of 64-bit lanes. What is in the high
// halves doesn't matter, neither there nor in the results.
func (e *emitter) words(p philox, c reg.VecVirtual) [4]reg.VecVirtual {
	multiply := func(x reg.VecVirtual, by Op) (low, high reg.VecVirtual) {
		low, high = e.vec(), e.vec()
		e.VPMULUDQ(by, x, low)
		e.VPSRLQ(Imm(32), low, high)
		return low, high
	}
	w3, w2 := multiply(c, p.mul0)
	e.xor(p.key1, w2, w2)
	w1, w0 := multiply(w2, p.mul1)
	e.xor(p.word0, w0, w0)
	e.xor(p.word2, w3, w3)
	w2 = w3
	for round, key := range p.keys {
		low0, high0 := multiply(w0, p.mul0)
		low1, high1 := multiply(w2, p.mul1)
		e.xor(w1, high1, high1)
		e.xor(key[0], high1, high1)
		if round == 0 {
			e.xor(p.word3, high0, high0)
		} else {
			e.xor(w3, high0, high0)
			e.xor(key[1], high0, high0)
		}
		w0, w1, w2, w3 = high1, low1, high0, low0
	}
	return [4]reg.VecVirtual{w0, w1, w2, w3}
}

// drop emits the loop over a row. body computes the vectors at its cursors and calls drop on what is to be scaled and
// zeroed at cursor i.
func (e *emitter) drop(body func(cs []cursor, drop func(i int, v reg.VecVirtual))) {
	const group, vectors, together = 128, 8, 2
	n := e.length("dst")
	limit := e.GP32()
	e.Load(e.Param("threshold"), limit)
	e.DECL(limit)
	below, scale := e.held(e.fill(limit)), e.held(e.broadcast("scale"))
	p := e.philox()
	odd := e.K()
	if e.wide() {
		bits := e.GP32()
		e.MOVL(U32(0xaaaa), bits)
		e.KMOVW(bits, odd)
	}

	counter, index, left := e.GP32(), e.GP64(), e.GP64()
	e.XORL(counter, counter)
	e.Label("block")
	// The counter of lane 0 tells the place of its element: 16 counters make a group.
	e.MOVL(counter, index.As32())
	e.ANDL(I32(-16), index.As32())
	e.SHLQ(Imm(3), index)
	e.CMPQ(index, n)
	e.JGE(LabelRef("end"))
	e.MOVL(counter, left.As32())
	e.ANDL(Imm(15), left.As32())
	e.ADDQ(left, index)

	even, second := e.fill(counter), e.vec()
	e.VPADDD(e.lanes(), even, even)
	e.VPSRLQ(Imm(32), even, second)
	drawn := e.words(p, even)
	for i, w := range e.words(p, second) {
		e.VPSLLQ(Imm(32), w, w)
		if e.wide() {
			e.VPBLENDMD(w, drawn[i], odd, drawn[i])
		} else {
			e.VPBLENDD(Imm(0xaa), w, drawn[i], drawn[i])
		}
	}

	// some emits count vectors of a group from v on.
	some := func(v, count int, m *mask) {
		cs := make([]cursor, count)
		for i := range cs {
			cs[i] = cursor{e: e, index: index, disp: 4 * group / vectors * (v + i), m: m}
		}
		body(cs, func(i int, x reg.VecVirtual) {
			draw, word := e.vec(), drawn[(v+i)/2]
			if (v+i)%2 == 0 {
				e.and(e.u32(0xffff), word, draw)
			} else {
				e.VPSRLD(Imm(16), word, draw)
			}
			if e.wide() {
				kept := e.K()
				e.VPCMPGTD(below, draw, kept)
				e.VMULPS_Z(scale, x, kept, x)
			} else {
				e.VPCMPGTD(below, draw, draw)
				e.VMULPS(scale, x, x)
				e.VANDPS(draw, x, x)
			}
		})
	}
	e.LEAQ(Mem{Base: index, Disp: group/vectors*(vectors-1) + e.width}, left)
	e.CMPQ(left, n)
	e.JG(LabelRef("part"))
	for v := 0; v < vectors; v += together {
		some(v, together, nil)
	}
	e.ADDL(U32(e.width), counter)
	e.JMP(LabelRef("block"))

	e.Label("part")
	e.MOVQ(n, left)
	e.SUBQ(index, left)
	for v := range vectors {
		short, next := e.label("short"), e.label("next")
		e.CMPQ(left, U32(e.width))
		e.JL(LabelRef(short))
		some(v, 1, nil)
		e.JMP(LabelRef(next))
		e.Label(short)
		e.CMPQ(left, Imm(0))
		e.JLE(LabelRef("over"))
		m := e.firstLanes(left)
		some(v, 1, &m)
		e.Label(next)
		e.SUBQ(Imm(group/vectors), left)
	}
	e.Label("over")
	e.ADDL(U32(e.width), counter)
	e.JMP(LabelRef("block"))
	e.Label("end")
	e.end()
}
