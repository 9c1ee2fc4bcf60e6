package engine

import (
	"unsafe"

	"konkanitrain/op"
)

// kernelBytes is about what a kernel's function takes: a closure over the sizes of its op.
const kernelBytes = 48

// HeapBytes is what the program takes on Go's heap, in bytes: its steps, operands, names and plan, what several of them
// share once. Machines come on top, see MachineBytes.
func (p *Program) HeapBytes() int64 {
	f := footprint{seen: map[unsafe.Pointer]bool{}}
	f.bytes = sliceBytes(p.Steps) + sliceBytes(p.operands) + sliceBytes(p.Inputs) + sliceBytes(p.Grads) +
		sliceBytes(p.Plan.Buffers) + sliceBytes(p.Plan.Offsets)
	for i := range p.Steps {
		s := &p.Steps[i]
		f.bytes += 8*int64(len(s.In)) + kernelBytes // the lists of operands lie in one array
		for _, text := range []string{s.Op.Params, s.Op.Place, s.Op.Block} {
			f.text(text)
		}
	}
	for i := range p.operands {
		f.operand(&p.operands[i])
	}
	for i := range p.Inputs {
		f.operand(&p.Inputs[i])
	}
	for i := range p.Plan.Buffers {
		f.text(p.Plan.Buffers[i].Name)
	}
	return f.bytes
}

// MachineBytes is what one machine of the program takes on Go's heap, in bytes, without the memory that it is bound to.
func (p *Program) MachineBytes() int64 {
	most := 0
	for i := range p.Steps {
		most = max(most, len(p.Steps[i].In))
	}
	return int64(unsafe.Sizeof(Machine{})) + 8*int64(len(p.operands)) + int64(most)*int64(unsafe.Sizeof(op.Tensor{}))
}

// footprint adds up memory that several owners may share.
type footprint struct {
	bytes int64
	seen  map[unsafe.Pointer]bool
}

func (f *footprint) operand(o *Operand) {
	f.text(o.Name)
	if dims := o.Type.Shape; len(dims) > 0 {
		f.once(unsafe.Pointer(unsafe.SliceData(dims)), sliceBytes(dims))
	}
}

func (f *footprint) text(s string) {
	if s != "" {
		f.once(unsafe.Pointer(unsafe.StringData(s)), allocated(int64(len(s))))
	}
}

func (f *footprint) once(at unsafe.Pointer, bytes int64) {
	if !f.seen[at] {
		f.seen[at] = true
		f.bytes += bytes
	}
}

// sliceBytes is what a slice's array takes.
func sliceBytes[T any](s []T) int64 {
	var one T
	return allocated(int64(cap(s)) * int64(unsafe.Sizeof(one)))
}

// allocated is about what Go's heap takes for an object: sizes go in steps of 16 bytes, of pages above 32 KB.
func allocated(bytes int64) int64 {
	step := int64(16)
	if bytes > 32<<10 {
		step = 8 << 10
	}
	return (bytes + step - 1) / step * step
}

// ProgramBytes is what the programs that are kept take on Go's heap, in bytes, without their machines.
func (h *holding[K]) ProgramBytes() int64 { return h.programs.sum((*Program).HeapBytes) }

// MachineBytes is what the machines of the programs that are kept take on Go's heap once each worker has bound each
// program.
func (h *holding[K]) MachineBytes() int64 {
	return int64(len(h.arenas)) * h.programs.sum((*Program).MachineBytes)
}

// sum adds up what is said of each program that is kept.
func (c *Cache[K]) sum(bytes func(*Program) int64) (sum int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.programs {
		sum += bytes(p)
	}
	return sum
}
