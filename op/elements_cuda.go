package op

import "konkanitrain/device/cuda"

// byFours launches a kernel that goes by elements.cuh: its arguments, and n elements. moved are the types of the arrays
// of this size that it reads and writes.
func byFours(kernel string, n int, args []cuda.Arg, moved ...DType) cuda.Launch {
	l := cuda.Launch{
		Kernel: kernel, Grid: [3]int{blocks(n, 4*threads)}, Block: threads, Args: append(args, cuda.Long(int64(n))), FLOPs: float64(n),
	}
	for _, t := range moved {
		l.Bytes += int64(n) * t.Bytes()
	}
	return l
}

// pointers are the first n operands and the result.
func pointers(n int) (args []cuda.Arg) {
	for k := range n {
		args = append(args, cuda.Ptr(cuda.In(k)))
	}
	return append(args, cuda.Ptr(cuda.Out()))
}
