package op

import "konkanitrain/device/cuda"

func (total) precision() Precision     { return Precision{} }
func (totalGrad) precision() Precision { return Precision{} }

func (s total) cuda(Setting) Kernel {
	n := len(s.weights)
	var args []cuda.Arg
	for i := range mostShares {
		if i < n {
			args = append(args, cuda.Ptr(cuda.In(i)), cuda.Double(s.weights[i]))
		} else {
			args = append(args, cuda.Null(), cuda.Double(0))
		}
	}
	return Kernel{Launches: []cuda.Launch{{
		Kernel: "total", Block: 32, Args: append(args, cuda.Ptr(cuda.In(n)), cuda.Ptr(cuda.Out()), cuda.Int(s.batch)),
		Bytes: 4 * int64(n*s.batch+2), FLOPs: 2 * float64(n*s.batch),
	}}}
}

func (s totalGrad) cuda(Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{
		byElements("total_grad", s.n, 4, 2, append(pointers(2), cuda.Double(s.weight), cuda.Int(s.n))...),
	}}
}
