package op

import "slices"

// NewReduce makes the op that adds up the workers' gradients, for one piece of n elements, and prepares their norm. The
// others are added to the first, in their order; one worker's gradients stay as they are.
//
//	g_1 .. g_workers [n] -> y [1] float64; g_1 is updated
//	g_1 = ((g_1 + g_2) + g_3) + ...    y = the sum of the squares of the new g_1
//
// workers is 1 or more. Results differ with the length of the pieces, as the order of a piece's squares depends on it.
func NewReduce(n, workers int) *Op {
	in := slices.Repeat([]Type{{Shape: []int{n}}}, workers)
	return &Op{
		Name: "reduce", In: in, Out: Type{[]int{1}, Float64}, Updates: []int{0}, FLOPs: float64(n * (workers + 1)), family: reduce{n, workers},
	}
}

type reduce struct{ n, workers int }
