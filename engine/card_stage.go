package engine

import (
	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// stage is pinned memory for the inputs, or the outputs, of a window's batches, one behind the other.
type stage struct {
	memory cuda.Pinned
	at     []int64 // where each batch begins
	end    int64

	filled     any  // the pass whose inputs are here, but the late ones; nil for none
	prefetched bool // the first batch's inputs are on their way to the card
}

// clear takes everything out.
func (s *stage) clear() {
	s.at, s.end, s.filled, s.prefetched = s.at[:0], 0, nil, false
}

// place adds a batch of so many bytes.
func (s *stage) place(bytes int64) {
	s.at = append(s.at, s.end)
	s.end += aligned(bytes)
}

// reserve makes the memory as large as bytes at least. Nothing may be under way from it or to it.
func (s *stage) reserve(card cuda.Card, bytes int64, what string) (err error) {
	if s.size() >= bytes {
		return nil
	}
	s.free()
	s.memory, err = card.Pinned(bytes, what)
	return err
}

func (s *stage) size() int64 {
	if s.memory == nil {
		return 0
	}
	return int64(len(s.memory.Bytes()))
}

func (s *stage) free() {
	if s.memory != nil {
		s.memory.Free()
		s.memory = nil
	}
}

// staged are a program's inputs in pinned memory.
type staged struct {
	*Program
	bytes []byte
}

// Input is the memory of an input, the zero Tensor where the program has no such input.
func (s staged) Input(name string) op.Tensor {
	for _, o := range s.Inputs {
		if o.Name == name {
			return tensorOf(s.bytes[o.Offset:][:o.Type.Bytes()], o.Type)
		}
	}
	return op.Tensor{}
}

// collected are a program's outputs in pinned memory.
type collected struct {
	*Program
	bytes []byte
}

// Output is the memory of an output, the zero Tensor where the program has none of this name.
func (c collected) Output(name string) op.Tensor {
	o, ok := c.Outputs[name]
	if !ok {
		return op.Tensor{}
	}
	at := c.outputAt(name)
	return tensorOf(c.bytes[at:][:o.Type.Bytes()], o.Type)
}

// outputAt is where an output lies among all outputs, in the order of their names.
func (p *Program) outputAt(name string) (at int64) {
	for n, o := range p.Outputs {
		if n < name {
			at += aligned(o.Type.Bytes())
		}
	}
	return at
}

// outputBytes is what all outputs take.
func (p *Program) outputBytes() (sum int64) {
	for _, o := range p.Outputs {
		sum += aligned(o.Type.Bytes())
	}
	return sum
}
