package engine

import (
	"fmt"

	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// boundProgram is a program in a card's memory.
type boundProgram struct {
	*Program
	inputs  cuda.Address // of all inputs
	names   []string     // of the outputs, in their order
	outputs map[string]cuda.Address
	list    cuda.List   // the whole program, and the count of losses that are not finite
	steps   []cuda.List // one for each step, to measure them; nil until then
}

// bind is the program bound to the arena; the first call for a program binds it.
func (c *Card[K]) bind(p *Program) (*boundProgram, error) {
	if b := c.bound[p]; b != nil {
		return b, nil
	}
	if size := c.arenas[0].Size(); size < p.Plan.Size {
		return nil, fmt.Errorf("bind: the program needs an arena of %d bytes, there are %d", p.Plan.Size, size)
	}
	b := &boundProgram{Program: p, names: p.outputNames(), outputs: map[string]cuda.Address{}}
	at := &addresses[K]{c: c, p: p}
	if len(p.Inputs) > 0 {
		b.inputs = at.arena(p.Inputs[0].Buffer, 0)
	}
	for name, o := range p.Outputs {
		b.outputs[name] = at.operand(&o)
	}
	var launches []cuda.Launch
	for i := range p.Steps {
		for range p.Steps[i].Kernel.Launches {
			at.steps = append(at.steps, i)
		}
		launches = append(launches, p.Steps[i].Kernel.Launches...)
	}
	if c.train {
		for _, name := range p.Losses {
			o := p.Outputs[name]
			at.losses = append(at.losses, b.outputs[name])
			launches = append(launches, op.CardLosses(o.Type.Elements()))
		}
	}
	if at.err != nil {
		return nil, at.err
	}
	var err error
	if b.list, err = c.card.Bind(launches, at.of); err == nil {
		err = at.err
	}
	if err != nil {
		b.free()
		return nil, err
	}
	c.bound[p] = b
	return b, nil
}

// split binds each step by itself.
func (c *Card[K]) split(b *boundProgram) error {
	for i := len(b.steps); i < len(b.Steps); i++ {
		at := &addresses[K]{c: c, p: b.Program}
		for range b.Steps[i].Kernel.Launches {
			at.steps = append(at.steps, i)
		}
		l, err := c.card.Bind(b.Steps[i].Kernel.Launches, at.of)
		if err == nil && at.err != nil {
			l.Free()
			err = at.err
		}
		if err != nil {
			return err
		}
		b.steps = append(b.steps, l)
	}
	return nil
}

// free gives back what the lists hold.
func (b *boundProgram) free() {
	if b.list != nil {
		b.list.Free()
	}
	for _, l := range b.steps {
		l.Free()
	}
}

// boundBytes is about what the binding of a program takes on the host: the cells of its launches.
func boundBytes(p *Program) int64 {
	const launch, cell = 160, 8
	sum := int64(0)
	for i := range p.Steps {
		for _, l := range p.Steps[i].Kernel.Launches {
			sum += launch + cell*int64(len(l.Args))
		}
	}
	return sum
}

// addresses resolves what the launches of a program point to.
type addresses[K comparable] struct {
	c      *Card[K]
	p      *Program
	steps  []int          // of each launch: the step that it belongs to
	losses []cuda.Address // of the launches behind these, one each
	err    error          // the first operand that lies nowhere
}

// of is the address of a reference in launch i.
func (a *addresses[K]) of(i int, r cuda.Ref) cuda.Address {
	if n := len(a.steps); i >= n {
		if r.Index == 0 {
			return a.losses[i-n]
		}
		return a.c.status()
	}
	s := &a.p.Steps[a.steps[i]]
	var start cuda.Address
	switch r.Place {
	case cuda.Operand:
		start = a.operand(s.In[r.Index])
	case cuda.Result:
		start = a.operand(s.Out)
	default:
		start = a.arena(s.Scratch, 0)
	}
	return start + cuda.Address(r.Offset)
}

// arena is a place in a buffer of the arena.
func (a *addresses[K]) arena(buffer int, offset int64) cuda.Address {
	return cuda.AddressOf(a.c.arenas[0]) + cuda.Address(a.p.Plan.Offsets[buffer]+offset)
}

// operand is where an operand begins.
func (a *addresses[K]) operand(o *Operand) cuda.Address {
	m := a.c.extra
	switch o.Space {
	case Arena:
		return a.arena(o.Buffer, o.Offset)
	case One:
		return cuda.AddressOf(m.small) + oneAt
	case Shared:
		at := m.table(a.c.net.Table(o.Name, o.Type.Shape))
		if at == 0 {
			a.fail(o)
		}
		return at
	}
	t, ok := a.c.layout.Find(o.Name)
	if !ok || t.Bytes() != int64(o.Type.Elements())*4 {
		a.fail(o)
		return 0
	}
	switch o.Space {
	case Weight:
		return cuda.AddressOf(a.c.weights) + cuda.Address(t.Offset)
	case HalfWeight:
		if m.halves == nil {
			a.fail(o)
			return 0
		}
		return cuda.AddressOf(m.halves) + cuda.Address(t.Offset/2)
	}
	if !a.c.train || t.Frozen {
		a.fail(o)
		return 0
	}
	return cuda.AddressOf(a.c.grads[0]) + cuda.Address(t.Offset)
}

func (a *addresses[K]) fail(o *Operand) {
	if a.err == nil {
		a.err = fmt.Errorf("bind: %v of %v lies nowhere on the card", o, o.Type)
	}
}

// status is where the status of a step lies.
func (c *Card[K]) status() cuda.Address { return cuda.AddressOf(c.extra.small) + statusAt }

// lists is work on flat buffers, bound once: they stay where they are. Nil where the replica doesn't need it.
type lists struct{ update, squares, halves, finite, meanAdd, exchange cuda.List }

func (l *lists) free() {
	for _, list := range []cuda.List{l.update, l.squares, l.halves, l.finite, l.meanAdd, l.exchange} {
		if list != nil {
			list.Free()
		}
	}
	*l = lists{}
}

// bindFlat binds what a replica does with its flat buffers.
func (c *Card[K]) bindFlat() error {
	n, m := int(c.layout.Bytes/4), c.extra
	weights, small := cuda.AddressOf(c.weights), cuda.AddressOf(m.small)
	var err error
	bind := func(list *cuda.List, launches []cuda.Launch, scratch, out cuda.Address, in ...cuda.Address) {
		if err == nil {
			*list, err = c.card.Bind(launches, func(_ int, r cuda.Ref) cuda.Address { return resolve(r, scratch, out, in) })
		}
	}
	if m.half {
		bind(&c.lists.halves, []cuda.Launch{op.CardHalves(n)}, 0, 0, weights, cuda.AddressOf(m.halves))
	}
	flat, e := flatCardKernels(c.layout, m.half, c.train, c.averages != nil)
	if e != nil {
		return e
	}
	scratch := cuda.AddressOf(m.scratch)
	bind(&c.lists.finite, flat.finite.Launches, scratch, small+oddAt, weights)
	if !c.train {
		return err
	}
	grads, first, second := cuda.AddressOf(c.grads[0]), cuda.AddressOf(c.moments[0]), cuda.AddressOf(c.moments[1])
	bind(&c.lists.update, flat.update.Launches, scratch, 0, weights, first, second, grads,
		cuda.AddressOf(m.halves), cuda.AddressOf(m.flags), small+constantsAt, small+statusAt, cuda.AddressOf(c.averages))
	bind(&c.lists.squares, flat.squares.Launches, scratch, small+statusAt+8*op.StatusSquares, grads)
	bind(&c.lists.meanAdd, flat.meanAdd.Launches, scratch, weights, weights, second, first)
	if c.averages != nil {
		bind(&c.lists.exchange, []cuda.Launch{op.CardExchange(int(c.layout.Learned / 4))}, 0, 0, weights, cuda.AddressOf(c.averages))
	}
	return err
}

// resolve is the address of a reference among operands that don't move.
func resolve(r cuda.Ref, scratch, out cuda.Address, in []cuda.Address) cuda.Address {
	start := scratch
	switch r.Place {
	case cuda.Operand:
		start = in[r.Index]
	case cuda.Result:
		start = out
	}
	return start + cuda.Address(r.Offset)
}
