package optest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// onCard is a card as a machine.
type onCard struct {
	card cuda.Card
	half bool
}

// OnCard is an opened card, whose kernels are loaded, in float32 or in half precision.
func OnCard(card cuda.Card, half bool) Machine { return onCard{card, half} }

// rounding: a card's products and sums have an order of their own, and its functions are 2 units in the last place off;
// both are some 1e-7 a term. In half precision a gradient that is an activation's is rounded in the batch, and once for
// each utterance alone: four times half a unit, for the few utterances of a batch.
func (m onCard) rounding() rounding {
	r := rounding{half: m.half, kernel: 1e-5, sums: 1e-6}
	if m.half {
		r.sums = 4 * halfUnit
	}
	return r
}

func (m onCard) Kernels(o *op.Op) ([]Kernel, error) {
	if o.View != nil { // it lies inside its operand: no card computes it
		return CPU().Kernels(o)
	}
	p, err := o.Precision()
	if err != nil {
		return nil, err
	}
	settings := []op.Setting{{In: typesOf(o), Out: o.Out.Of}}
	if m.half {
		settings = nil
		for _, out := range []op.DType{op.Float16, op.Float32} {
			s, err := o.HalfSetting(out)
			if err != nil {
				return nil, err
			}
			if len(settings) == 0 || s.Out != settings[0].Out {
				settings = append(settings, s)
			}
		}
	}
	var kernels []Kernel
	for _, s := range settings {
		k, err := o.CardKernel(s)
		if err != nil {
			return nil, err
		}
		kernels = append(kernels, Kernel{
			Kernel: k, In: s.In, Out: s.Out, Parts: p.Parts,
			run: func(r run) (op.Tensor, []op.Tensor, error) { return m.run(o, s, p.Parts, r) },
		})
	}
	return kernels, nil
}

// run gives each operand a buffer of its own size, so that a guarded card sees who leaves it.
func (m onCard) run(o *op.Op, s op.Setting, parts []op.Part, r run) (out op.Tensor, in []op.Tensor, err error) {
	s.Add = r.onto != nil
	k, err := o.CardKernel(s)
	if err != nil {
		return out, nil, err
	}
	var buffers []device.Buffer
	defer func() {
		for _, b := range buffers {
			b.Free()
		}
	}()
	place := func(content []byte, what string) (device.Buffer, error) {
		b, err := m.card.Alloc(int64(len(content)), what)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, b)
		_, err = b.WriteAt(content, 0)
		return b, err
	}

	for i, x := range r.in {
		if _, err := place(bytesOf(x), fmt.Sprintf("operand %d of %s", i, o.Name)); err != nil {
			return out, nil, err
		}
	}
	operands := buffers
	t := op.Type{Shape: o.Out.Shape, Of: s.Out}
	initial := dirty(t)
	if s.Add {
		initial = *r.onto
	}
	var result device.Buffer
	if r.place >= 0 {
		result = operands[r.place]
	} else if result, err = place(pack(initial, parts, m.half), "result of "+o.Name); err != nil {
		return out, nil, err
	}
	var scratch device.Buffer
	if k.Scratch > 0 {
		if scratch, err = place(bytes.Repeat([]byte{0xff}, int(k.Scratch)), "scratch memory of "+o.Name); err != nil {
			return out, nil, err
		}
	}

	list, err := m.card.Bind(k.Launches, func(_ int, r cuda.Ref) cuda.Address {
		b := scratch
		switch r.Place {
		case cuda.Operand:
			b = operands[r.Index]
		case cuda.Result:
			b = result
		}
		return cuda.AddressOf(b) + cuda.Address(r.Offset)
	})
	if err != nil {
		return out, nil, err
	}
	defer list.Free()
	if err := m.card.Do(func(q cuda.Queue) error { return q.Run(list) }); err != nil {
		return out, nil, err
	}

	back := make([]byte, result.Size())
	if _, err := result.ReadAt(back, 0); err != nil {
		return out, nil, err
	}
	out = unpack(back, t, parts, m.half)
	for i, x := range r.in {
		back := make([]byte, operands[i].Size())
		if _, err := operands[i].ReadAt(back, 0); err != nil {
			return out, nil, err
		}
		in = append(in, fromBytes(back, op.Type{Shape: x.Shape, Of: s.In[i]}))
	}
	return out, in, nil
}

// bytesOf is x in memory.
func bytesOf(x op.Tensor) []byte {
	var b bytes.Buffer
	for _, values := range []any{x.Data, x.Ints, x.Halves, x.Doubles} {
		binary.Write(&b, binary.LittleEndian, values)
	}
	return b.Bytes()
}

// fromBytes is what lies in memory.
func fromBytes(b []byte, t op.Type) op.Tensor {
	x := op.Tensor{Shape: t.Shape}
	read := func(into any) { binary.Decode(b, binary.LittleEndian, into) }
	switch n := t.Elements(); t.Of {
	case op.Int32:
		x.Ints = make([]int32, n)
		read(x.Ints)
	case op.Float16:
		x.Halves = make([]uint16, n)
		read(x.Halves)
	case op.Float64:
		x.Doubles = make([]float64, n)
		read(x.Doubles)
	default:
		x.Data = make([]float32, n)
		read(x.Data)
	}
	return x
}

// pack is the content of a result whose parts lie where a card has them, with NaN between them.
func pack(x op.Tensor, parts []op.Part, half bool) []byte {
	if parts == nil {
		return bytesOf(x)
	}
	offsets, total := op.Packed(parts, half)
	b := bytes.Repeat([]byte{0xff}, int(total))
	for i, p := range parts {
		part := as(typeOf(p, half), op.Tensor{Data: x.Data[:p.Elements], Shape: []int{p.Elements}})
		copy(b[offsets[i]:], bytesOf(part))
		x.Data = x.Data[p.Elements:]
	}
	return b
}

// unpack is the result in memory, with the parts of a packed one as float32, one behind the other.
func unpack(b []byte, t op.Type, parts []op.Part, half bool) op.Tensor {
	if parts == nil {
		return fromBytes(b, t)
	}
	offsets, _ := op.Packed(parts, half)
	x := op.Tensor{Shape: t.Shape}
	for i, p := range parts {
		part := as(op.Float32, fromBytes(b[offsets[i]:], op.Type{Shape: []int{p.Elements}, Of: typeOf(p, half)}))
		x.Data = append(x.Data, part.Data...)
	}
	return x
}

func typeOf(p op.Part, half bool) op.DType {
	if half && p.Half {
		return op.Float16
	}
	return op.Float32
}
