package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Gorgonia op has one result. A gradient with several comes packed as a vector from one backward op and is
// taken apart by unpack, which the engine turns into aliases (no copy) and the tape copies.

// View is where in the input a result lies: from element Offset on, with as many elements as its shape has.
type View struct{ Offset int }

// unpack is the part that begins at offset.
type unpack struct{ offset int }

// newUnpack: packed [P] -> shape.
func newUnpack(offset int, shape tensor.Shape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if end := offset + Size(shape); in[0].Shape.Dims() != 1 || end > in[0].Shape[0] {
			return nil, want("unpack", fmt.Sprintf("[P] with P of %d or more", end), in)
		}
		return &Op{
			Name: "unpack", Params: fmt.Sprint(offset), Out: Type{Shape: shape.Clone()}, View: &View{offset}, family: unpack{offset},
		}, nil
	}
}

func (u unpack) cpu() Kernel {
	return Kernel{Run: func(_ *Env, out Tensor, in []Tensor) { copy(out.Data, in[0].Data[u.offset:]) }}
}

func (u unpack) ref(out Array, in []Array) { copy(out.Data, in[0].Data[u.offset:]) }

// unpackLike cuts packed into consecutive tensors with the shapes of like; a nil entry takes nothing and stays nil.
func (g *Graph) unpackLike(packed *G.Node, like ...*G.Node) G.Nodes {
	parts := make(G.Nodes, len(like))
	offset := 0
	for i, n := range like {
		if n != nil {
			parts[i] = g.add(newUnpack(offset, n.Shape()), packed)
			offset += Size(n.Shape())
		}
	}
	return parts
}
