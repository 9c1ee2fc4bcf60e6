package optest

import (
	"math/rand/v2"

	"konkanitrain/op"
)

// Operand is an input of a batch: shared by all utterances (a weight), or a piece for each utterance.
type Operand struct {
	Shared *op.Array
	// Window says which rows of Shared a batch takes whose operand By is padded to n; it is nil for all of them.
	Window func(n int) (first, count int)
	By     int // an earlier operand

	Each   []op.Array // without the batch dimension
	Grows  bool       // pieces are padded along their first dimension
	Absent int32      // the length that marks an absent row, in an operand of lengths
}

// All is an operand that all utterances share.
func All(a op.Array) Operand { return Operand{Shared: &a} }

// Window is a part of a shared table for each batch.
func Window(a op.Array, of func(n int) (first, count int)) Operand {
	return Operand{Shared: &a, Window: of}
}

// Growing are pieces of different lengths.
func Growing(each ...op.Array) Operand { return Operand{Each: each, Grows: true} }

// Sequences are random pieces [n, width...] for each length n.
func Sequences(r *rand.Rand, lengths []int, width ...int) Operand {
	o := Operand{Grows: true}
	for _, n := range lengths {
		o.Each = append(o.Each, Floats(r, append([]int{n}, width...)...))
	}
	return o
}

// LengthsEach is an operand of lengths; absent is that of an absent row, 0 in frames and -1 in tokens.
func LengthsEach(lengths []int, absent int32) Operand {
	o := Operand{Absent: absent}
	for _, n := range lengths {
		o.Each = append(o.Each, Lengths(int32(n)))
	}
	return o
}

// SeedsEach are the random seeds of n utterances.
func SeedsEach(n int) Operand {
	var o Operand
	for u := range n {
		o.Each = append(o.Each, seedOf(u))
	}
	return o
}

// absent stands for an absent row in an order of utterances.
const absent = -1

// arrange makes the operands of a batch, and says to how many rows each is padded.
func arrange(ops []Operand, order []int, extra int, fill ...func() float64) (in []op.Array, padded []int) {
	for i, o := range ops {
		switch {
		case o.Window != nil:
			first, count := o.Window(padded[o.By])
			width := len(o.Shared.Data) / o.Shared.Shape[0]
			in = append(in, op.Array{Data: o.Shared.Data[first*width:][:count*width], Shape: []int{count, width}})
		case o.Shared != nil:
			in = append(in, *o.Shared)
		case !o.Grows:
			in = append(in, stack(o, order, 0))
		default:
			longest := 0
			for _, u := range order {
				if u != absent {
					longest = max(longest, o.Each[u].Shape[0])
				}
			}
			in = append(in, stack(o, order, longest+extra, fill...))
		}
		padded = append(padded, in[i].Shape[min(1, len(in[i].Shape)-1)])
	}
	return in, padded
}

// stack puts the pieces of utterances into rows of n; n is 0 for pieces of one size.
func stack(o Operand, order []int, n int, fill ...func() float64) op.Array {
	like := o.Each[0].Shape
	width := op.Size(like) / max(like[0], 1)
	out := op.Array{Shape: append([]int{len(order), n}, like[1:]...)}
	if n == 0 {
		n = like[0]
		out.Shape = append([]int{len(order)}, like...)
		if op.Size(like) == 1 {
			out.Shape = []int{len(order)}
		}
	}
	size := n * width
	if o.Each[0].Ints != nil {
		out.Ints = make([]int32, len(order)*size)
	} else {
		out.Data = make([]float64, len(order)*size)
	}
	for row, u := range order {
		used := 0
		switch {
		case u == absent && out.Ints != nil && !o.Grows:
			out.Ints[row*size] = o.Absent
		case out.Ints != nil && u != absent:
			copy(out.Ints[row*size:], o.Each[u].Ints)
		case u != absent:
			used = copy(out.Data[row*size:], o.Each[u].Data)
		}
		for i := used; out.Data != nil && i < size && len(fill) > 0; i++ {
			out.Data[row*size+i] = fill[0]()
		}
	}
	return out
}
