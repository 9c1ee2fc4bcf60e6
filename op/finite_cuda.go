package op

import "konkanitrain/device/cuda"

func (finite) precision() Precision { return Precision{} }

func (s finite) cuda(Setting) Kernel {
	const run = 8192 // elements of a block
	count := blocks(s.n, run)
	return Kernel{Scratch: 4 * int64(count), Launches: []cuda.Launch{
		{
			Kernel: "finite_first", Grid: [3]int{count}, Block: threads, Bytes: 4 * int64(s.n), FLOPs: float64(s.n),
			Args: []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Int(s.n), cuda.Int(run), cuda.Ptr(cuda.Temp())},
		},
		{
			Kernel: "finite_least", Block: threads, Bytes: 4 * int64(count),
			Args: []cuda.Arg{cuda.Ptr(cuda.Temp()), cuda.Int(count), cuda.Ptr(cuda.Out())},
		},
	}}
}
