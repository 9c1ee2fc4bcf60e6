package op

import "konkanitrain/device/cuda"

func (glu) precision() Precision     { return Precision{In: []bool{true, false}, Out: Halved} }
func (gluGrad) precision() Precision { return Precision{In: []bool{true, false, true}, Out: Halved} }

func (s glu) cuda(set Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{s.launch("glu", set.Out, pointers(2), 3, 6)}}
}

func (s gluGrad) cuda(set Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{s.launch("glu_grad", set.Out, pointers(3), 5, 10)}}
}

// launch has a thread for each result, which moves so many elements and takes so many FLOPs.
func (s gluShape) launch(kernel string, of DType, args []cuda.Arg, moved, flops int) cuda.Launch {
	n := s.b * s.t * s.d
	return cuda.Launch{
		Kernel: typed(kernel, of), Grid: [3]int{blocks(s.t*s.d, threads), s.b}, Block: threads,
		Args:  append(args, cuda.Int(s.factor), cuda.Int(s.t), cuda.Int(s.d)),
		Bytes: int64(moved*n)*of.Bytes() + 4*int64(s.b), FLOPs: float64(flops) * float64(n),
	}
}
