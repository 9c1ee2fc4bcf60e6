package op

// NewHalfStore makes the op that rounds float32 values to float16 (IEEE 754 binary16), nearest with ties to even. What
// rounds beyond 65504 becomes infinite, NaN stays NaN. A value kept for the backward pass takes half the memory so.
//
//	x [n] -> y [n] float16
func NewHalfStore(n int) *Op {
	x := Type{Shape: []int{n}}
	return &Op{Name: "half.store", In: []Type{x}, Out: Type{x.Shape, Float16}, family: halfStore{n}}
}

// NewHalfLoad makes the op that is the way back, which is exact.
//
//	x [n] float16 -> y [n]
func NewHalfLoad(n int) *Op {
	y := Type{Shape: []int{n}}
	return &Op{Name: "half.load", In: []Type{{y.Shape, Float16}}, Out: y, family: halfLoad{n}}
}

type (
	halfStore struct{ n int } // elements
	halfLoad  struct{ n int }
)
