package op

import "konkanitrain/device/cuda"

func (reduce) precision() Precision { return Precision{} }

func (s reduce) cuda(Setting) Kernel {
	var k Kernel
	for i := 1; i < s.workers; i++ {
		k.Launches = append(k.Launches, byElements("reduce_add", s.n, 12, 1, cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(i)), cuda.Long(int64(s.n))))
	}
	squares, partials := sumSquares(cuda.In(0), s.n)
	k.Scratch = 8 * int64(partials)
	k.Launches = append(k.Launches, squares, cuda.Launch{
		Kernel: "reduce_partials", Block: threads, Args: []cuda.Arg{cuda.Ptr(cuda.Temp()), cuda.Int(partials), cuda.Ptr(cuda.Out())},
		Bytes: k.Scratch, FLOPs: float64(partials), Doubles: float64(partials),
	})
	return k
}

// squaresRun is the number of elements whose squares a block sums: SQUARES_RUN in squares.cuh.
const squaresRun = 8192

// sumSquares launches the sums of the squares of a vector [n], in float64, one for each run of squaresRun elements:
// partials [n/squaresRun, rounded up], at the start of the scratch memory.
func sumSquares(x cuda.Ref, n int) (l cuda.Launch, partials int) {
	partials = blocks(n, squaresRun)
	return cuda.Launch{
		Kernel: "reduce_squares", Grid: [3]int{partials}, Block: threads, Args: []cuda.Arg{cuda.Ptr(x), cuda.Long(int64(n)), cuda.Ptr(cuda.Temp())},
		Bytes: 4 * int64(n), FLOPs: 2 * float64(n), Doubles: 2 * float64(n),
	}, partials
}
