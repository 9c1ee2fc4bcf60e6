package engine

import (
	"cmp"
	"maps"
	"slices"

	"konkanitrain/op"
)

// lifetimes says when each root value is read last. What is made or given is known from the steps.
type lifetimes map[*value]int

// liveness looks up the last use of every root value that lies in the arena.
func (c *code) liveness() lifetimes {
	last := lifetimes{} // 0 for an input that nobody reads
	for i, s := range c.steps {
		last[s.out] = max(last[s.out], i)
		for _, v := range s.reads() {
			last[v.root()] = i
		}
	}
	for _, v := range c.outputs {
		last[v.root()] = End
	}
	return last
}

// place is where a value lies: in a buffer, so many bytes from its start.
type place struct {
	buffer int
	offset int64
}

// memory is which values share buffers, and for how long each buffer is in use.
type memory struct {
	buffers []Buffer
	places  map[*value]place // of root values in the arena
	scratch []int            // buffer of each step's scratch space, -1 for none

	inputs, late int64 // on a card: bytes of all inputs, and where the late ones begin
}

// coalesce gives each value a buffer of its own or a place in one that is there already: what is added onto another
// value lies where that one does, and a result takes the memory of an operand that nobody reads any more, where the
// kernel allows that. Only from here on do values share memory.
func (c *code) coalesce(last lifetimes) *memory {
	m := &memory{places: map[*value]place{}}
	if c.spec.Target == op.CUDA {
		m.gather(c, last)
	} else {
		for _, v := range c.inputs {
			m.places[v] = place{m.buffer(v.name, v.typ.Bytes(), -1, last[v]), 0}
		}
	}
	for i, s := range c.steps {
		if s.out.space == Arena {
			p, shared := m.share(s, i)
			if shared {
				m.buffers[p.buffer].Last = last[s.out]
			} else {
				p = place{m.buffer(s.out.name, s.out.typ.Bytes(), i, last[s.out]), 0}
			}
			m.places[s.out] = p
		}
		scratch := -1
		if s.kernel.Scratch > 0 {
			scratch = m.buffer(s.out.name+" scratch", s.kernel.Scratch, i, i)
		}
		m.scratch = append(m.scratch, scratch)
	}
	return m
}

// gather puts all inputs into one buffer, so that one copy fills them, those that are late last.
func (m *memory) gather(c *code, last lifetimes) {
	slices.SortStableFunc(c.inputs, func(a, b *value) int {
		return cmp.Compare(btoi(slices.Contains(c.spec.Late, a.name)), btoi(slices.Contains(c.spec.Late, b.name)))
	})
	until := 0
	for _, v := range c.inputs {
		if !slices.Contains(c.spec.Late, v.name) {
			m.late = m.inputs + aligned(v.typ.Bytes())
		}
		m.places[v] = place{0, m.inputs}
		m.inputs += aligned(v.typ.Bytes())
		until = max(until, last[v])
	}
	m.buffer("inputs", m.inputs, -1, until)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *memory) buffer(name string, size int64, first, last int) int {
	m.buffers = append(m.buffers, Buffer{Name: name, Size: size, First: first, Last: last})
	return len(m.buffers) - 1
}

// share is the place of another value that the result of step i takes over.
func (m *memory) share(s *step, i int) (p place, ok bool) {
	if s.onto != nil {
		return m.of(s.onto), true
	}
	for _, k := range s.kernel.InPlace {
		v := s.in[k]
		if v.space != Arena || v.typ.Of != s.out.typ.Of || v.typ.Bytes() != s.out.typ.Bytes() {
			continue
		}
		if p := m.of(v); m.buffers[p.buffer].Last == i {
			return p, true
		}
	}
	return place{}, false
}

// of is where a value in the arena lies, also a part of another.
func (m *memory) of(v *value) place {
	var offset int64
	for ; v.whole != nil; v = v.whole {
		offset += v.offset
	}
	p := m.places[v]
	p.offset += offset
	return p
}

// program writes down what runs and where everything lies. What it holds is its own, of just the size that is needed:
// nothing of the graph or of the code stays alive through it.
func (c *code) program(m *memory) *Program {
	p := &Program{
		Plan: NewPlan(slices.Clip(m.buffers)), Outputs: map[string]Operand{}, Steps: make([]Step, len(c.steps)),
		Losses: c.spec.Losses, InputBytes: m.inputs, Late: m.late,
	}
	operands, reads := c.operands()
	of := func(v *value) *Operand { return &p.operands[operands[v]] }
	p.operands = make([]Operand, len(operands))
	for v, i := range operands {
		p.operands[i] = m.operand(v)
		p.operands[i].index = int32(i)
	}
	for _, v := range c.inputs {
		p.Inputs = append(p.Inputs, m.operand(v))
	}
	in := make([]*Operand, 0, reads)
	for i, s := range c.steps {
		first := len(in)
		for _, v := range s.in {
			in = append(in, of(v))
		}
		p.Steps[i] = Step{
			Op:     Work{Name: s.op.Name, Params: s.op.Params, Place: s.op.Place, Block: s.op.Block, FLOPs: s.op.FLOPs},
			Kernel: s.kernel, Out: of(s.out), In: in[first:len(in):len(in)],
			Scratch: m.scratch[i], Add: s.onto != nil, Backward: s.backward,
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.outputs)) {
		p.Outputs[name] = m.operand(c.outputs[name])
	}
	for _, v := range c.grads {
		p.Grads = append(p.Grads, v.name)
	}
	return p
}

// operands numbers the values that steps read and write, and counts how often they read one.
func (c *code) operands() (index map[*value]int, reads int) {
	index = map[*value]int{}
	number := func(v *value) {
		if _, known := index[v]; !known {
			index[v] = len(index)
		}
	}
	for _, s := range c.steps {
		number(s.out)
		for _, v := range s.in {
			number(v)
		}
		reads += len(s.in)
	}
	return index, reads
}

// operand is where a value lies.
func (m *memory) operand(v *value) Operand {
	o := Operand{Space: v.space, Name: v.name, Type: v.typ}
	if v.space == Arena {
		at := m.of(v)
		o.Buffer, o.Offset = at.buffer, at.offset
	}
	return o
}
