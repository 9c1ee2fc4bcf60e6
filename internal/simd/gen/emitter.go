package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set, as far as a description of a kernel asks for it.
type isa struct {
	suffix string // of the kernels' names
	width  int    // of a vector register, in float32s
	rows   int    // of the largest tile of a product, whose width is two vectors
}

var (
	avx2   = isa{suffix: "AVX2", width: 8, rows: 6}
	avx512 = isa{suffix: "AVX512", width: 16, rows: 12}
)

// wide says that this is AVX-512: 32 registers of 16 floats, masks in registers of their own.
func (s isa) wide() bool { return s.width == 16 }

// bytes is the size of a vector register.
func (s isa) bytes() int { return 4 * s.width }

// emitter writes the kernels of one family for one instruction set. Operands stand in the order of Go assembly: the
// destination last, and what Intel's manuals write as "dst, a, b" as (b, a, dst).
type emitter struct {
	*build.Context
	isa
	*tables
	kernel string // the function being written
	labels int
	pinned map[uint32]reg.VecVirtual // constants in registers for the whole function
}

// function starts a kernel; e.suffix is added to name.
func (e *emitter) function(name, signature, doc string) {
	e.kernel = name + e.suffix
	e.Function(e.kernel)
	e.Attributes(attr.NOSPLIT)
	e.SignatureExpr(signature)
	e.Doc(e.kernel + " " + doc)
	e.Pragma("noescape")
	e.labels, e.pinned = 0, map[uint32]reg.VecVirtual{}
}

// label returns a label of the function that is used once.
func (e *emitter) label(name string) string {
	e.labels++
	return fmt.Sprintf("%s%d", name, e.labels)
}

// end returns from a kernel.
func (e *emitter) end() {
	e.VZEROUPPER()
	e.RET()
}

func (e *emitter) vec() reg.VecVirtual {
	if e.wide() {
		return e.ZMM()
	}
	return e.YMM()
}

func (e *emitter) vecs(n int) (registers []reg.VecVirtual) {
	for range n {
		registers = append(registers, e.vec())
	}
	return registers
}

// word loads a parameter of 64 bits, or the pointer of a slice.
func (e *emitter) word(name string) reg.GPVirtual {
	v := e.GP64()
	e.Load(e.Param(name), v)
	return v
}

func (e *emitter) base(name string) reg.GPVirtual {
	v := e.GP64()
	e.Load(e.Param(name).Base(), v)
	return v
}

func (e *emitter) length(name string) reg.GPVirtual {
	v := e.GP64()
	e.Load(e.Param(name).Len(), v)
	return v
}

// address returns the place of a parameter in memory.
func (e *emitter) address(name string) Mem { return e.place(e.Param(name)) }

// place returns where a parameter or result lies. One that the signature doesn't have fails the family.
func (e *emitter) place(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("%s: %w", e.kernel, err))
		return Mem{}
	}
	return b.Addr
}

// broadcast fills a vector with a float32 parameter.
func (e *emitter) broadcast(name string) reg.VecVirtual {
	v := e.vec()
	e.VBROADCASTSS(e.address(name), v)
	return v
}

// fill fills a vector with a number of 32 bits.
func (e *emitter) fill(r reg.GPVirtual) reg.VecVirtual {
	x, v := e.XMM(), e.vec()
	e.VMOVD(r, x)
	e.VPBROADCASTD(x, v)
	return v
}

// AVX-512F has no VXORPS for its widest registers (that is AVX-512DQ), so bits are combined in the integer form there.

func (e *emitter) zero(v reg.VecVirtual) { e.xor(v, v, v) }

func (e *emitter) xor(a Op, b, dst reg.VecVirtual) {
	if e.wide() {
		e.VPXORD(a, b, dst)
	} else {
		e.VXORPS(a, b, dst)
	}
}

func (e *emitter) and(a Op, b, dst reg.VecVirtual) {
	if e.wide() {
		e.VPANDD(a, b, dst)
	} else {
		e.VANDPS(a, b, dst)
	}
}

func (e *emitter) or(a Op, b, dst reg.VecVirtual) {
	if e.wide() {
		e.VPORD(a, b, dst)
	} else {
		e.VORPS(a, b, dst)
	}
}

// u32 is a constant in every lane: a register where it is pinned, else a place in memory.
func (e *emitter) u32(bits uint32) Op {
	if v, ok := e.pinned[bits]; ok {
		return v
	}
	return e.stored(bits)
}

func (e *emitter) f32(v float64) Op { return e.u32(math.Float32bits(float32(v))) }

// pin keeps constants in registers from here to the end of the function: only two vectors a cycle come from memory.
func (e *emitter) pin(values ...float64) {
	for _, value := range values {
		bits, v := math.Float32bits(float32(value)), e.vec()
		e.VMOVUPS(e.stored(bits), v)
		e.pinned[bits] = v
	}
}

// tables is the constants of one family: each number fills 64 bytes, so that it can be an operand from memory in
// both instruction sets.
type tables struct {
	c      *build.Context
	global Mem
	bits   []uint32
	places map[uint32]int
	counts bool // lanes is used
	errs   []error
}

func newTables(c *build.Context) *tables {
	return &tables{c: c, global: NewDataAddr(NewStaticSymbol("numbers"), 0), places: map[uint32]int{}}
}

func (t *tables) stored(bits uint32) Mem {
	at, ok := t.places[bits]
	if !ok {
		at = 64 * len(t.bits)
		t.places[bits] = at
		t.bits = append(t.bits, bits)
	}
	return t.global.Offset(at)
}

// lanes is the numbers 0 to 15.
func (t *tables) lanes() Mem {
	t.counts = true
	return NewDataAddr(NewStaticSymbol("lanes"), 0)
}

// write ends a family with its constants. They are written as bits, because the assembler would read 88 or -0 as an
// integer.
func (t *tables) write() {
	if t.counts {
		t.c.StaticGlobal("lanes")
		t.c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			t.c.AddDatum(4*i, U32(uint32(i)))
		}
	}
	if len(t.bits) == 0 {
		return
	}
	t.c.StaticGlobal("numbers")
	t.c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, b := range t.bits {
		for j := range 8 {
			t.c.AddDatum(64*i+8*j, U64(uint64(b)<<32|uint64(b)))
		}
	}
}
