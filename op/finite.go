package op

// NewFinite makes the op that looks for a number that is not finite, NaN or an infinity: before what is broken is
// saved, or shown as a result.
//
//	x [n] -> y [1] int: the index of the first element that is not finite, or -1
func NewFinite(n int) *Op {
	return &Op{Name: "finite", In: []Type{{Shape: []int{n}}}, Out: Type{[]int{1}, Int32}, FLOPs: 2 * float64(n), family: finite{n}}
}

type finite struct{ n int }
