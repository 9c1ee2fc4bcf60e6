package engine

import (
	"fmt"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/internal/simd"
	"konkanitrain/op"
)

// The engine's own kernels: the sum by which Grad adds up gradients, the copy into the flat gradient buffer,
// and the conversions of half-precision storage.

// kernelOf is the op of a node; Gorgonia's own "+" is replaced by ours.
func kernelOf(n *G.Node) (*op.Op, error) {
	if o, ok := n.Op().(*op.Op); ok {
		return o, nil
	}
	if op.IsSum(n.Op()) {
		return &op.Op{
			Name: "sum", Out: n.Shape(), InPlace: []int{0, 1}, FLOPs: float64(op.Size(n.Shape())),
			Run: func(_ *op.Env, out op.Tensor, in []op.Tensor) { simd.Add(out.Data, in[0].Data, in[1].Data) },
		}, nil
	}
	return nil, fmt.Errorf("compile: %v is a %T, which has no kernel here: build the graph from package op only", n.Op(), n.Op())
}

// accumulate copies a gradient into the flat buffer, or adds it.
func accumulate(shape tensor.Shape) *op.Op {
	return &op.Op{
		Name: "accumulate", Out: shape, Accumulates: true, FLOPs: float64(op.Size(shape)),
		Run: func(e *op.Env, out op.Tensor, in []op.Tensor) {
			if e.Add {
				simd.Add(out.Data, out.Data, in[0].Data)
			} else {
				copy(out.Data, in[0].Data)
			}
		},
	}
}

// storeHalf rounds float32 values to float16, two to a word.
func storeHalf(words int) *op.Op {
	return &op.Op{
		Name: "half.store", Out: tensor.Shape{halfWords(words)},
		Run: func(_ *op.Env, out op.Tensor, in []op.Tensor) { simd.ToHalf(halves(out.Data, words), in[0].Data) },
	}
}

// loadHalf is the way back.
func loadHalf(words int) *op.Op {
	return &op.Op{
		Name: "half.load", Out: tensor.Shape{words},
		Run: func(_ *op.Env, out op.Tensor, in []op.Tensor) { simd.FromHalf(out.Data, halves(in[0].Data, words)) },
	}
}

// halfWords is the number of words that n float16 values take.
func halfWords(n int) int { return (n + 1) / 2 }

// halves sees words as float16 values.
func halves(words []float32, n int) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(words))), n)
}
