package op

import "konkanitrain/device/cuda"

func (adamW) precision() Precision { return Precision{} }

func (s adamW) cuda(Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byElements("adamw_f32", s.n, 28, 20,
			cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.In(3)), cuda.Ptr(cuda.In(4)),
			cuda.Ptr(cuda.Out()), cuda.Int(s.n)),
	}}
}

// byElements launches a kernel with a thread for each of n elements, which costs so many bytes and FLOPs.
func byElements(kernel string, n, bytes, flops int, args ...cuda.Arg) cuda.Launch {
	return cuda.Launch{
		Kernel: kernel, Grid: [3]int{blocks(n, threads)}, Block: threads, Args: args,
		Bytes: int64(bytes) * int64(n), FLOPs: float64(flops) * float64(n),
	}
}
