package op

import "fmt"

// NewMeanAdd makes the op that adds one more vector to a mean in the making, in float32 without its rounding errors:
// lost carries what rounding took away so far (Kahan 1965). Both start at 0, or sum at the first vector.
//
//	sum, lost, x [n] -> the new sum; lost is updated
//	y = x - lost    s = sum + y    lost = (s - sum) - y    sum = s
//
// The result may take the place of sum.
func NewMeanAdd(n int) *Op {
	t := Type{Shape: []int{n}}
	return &Op{Name: "mean.add", In: []Type{t, t, t}, Out: t, Updates: []int{1}, FLOPs: 4 * float64(n), family: meanAdd{n}}
}

// NewMeanEnd makes the op that makes a mean of the sum of count vectors, 1 or more.
//
//	sum [n] -> y = sum / count; the result may take the place of sum
func NewMeanEnd(n, count int) *Op {
	t := Type{Shape: []int{n}}
	return &Op{
		Name: "mean.end", Params: fmt.Sprint(count), In: []Type{t}, Out: t, FLOPs: 4 * float64(n), family: meanEnd{n, count},
	}
}

type (
	meanAdd struct{ n int }
	meanEnd struct{ n, count int }
)
