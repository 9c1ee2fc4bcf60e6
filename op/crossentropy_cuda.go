package op

import "konkanitrain/device/cuda"

func (crossEntropy) precision() Precision     { return Precision{} }
func (crossEntropyGrad) precision() Precision { return Precision{Out: Halved} }

func (s crossEntropy) cuda(Setting) Kernel {
	var space cardSpace
	n, losses := s.batch*s.l*s.v, space.take(8, int64(s.batch*s.l))
	return Kernel{Scratch: space.bytes, Launches: []cuda.Launch{
		{
			Kernel: "crossentropy_rows", Grid: byRows(s.batch, s.l), Block: warpRows, Bytes: 4 * int64(n), FLOPs: 9 * float64(n),
			Args: []cuda.Arg{
				cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), losses, cuda.Int(s.l), cuda.Int(s.v),
				cuda.Double(s.e),
			},
		},
		{
			Kernel: "crossentropy_sum", Grid: [3]int{s.batch}, Block: 32, Bytes: 8 * int64(s.batch*s.l), FLOPs: float64(s.batch * s.l),
			Args: []cuda.Arg{losses, cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.Out()), cuda.Int(s.l)},
		},
	}}
}

func (s crossEntropyGrad) cuda(set Setting) Kernel {
	n := s.batch * s.l * s.v
	k := Kernel{Launches: []cuda.Launch{{
		Kernel: typed("crossentropy_grad", set.Out), Grid: byRows(s.batch, s.l), Block: warpRows,
		Bytes: int64(n) * (4 + set.Out.Bytes()), FLOPs: 12 * float64(n),
		Args: []cuda.Arg{
			cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.In(3)), cuda.Ptr(cuda.Out()),
			cuda.Int(s.l), cuda.Int(s.v), cuda.Float(float32(s.e / float64(s.v))), cuda.Float(float32(1 - s.e)),
		},
	}}}
	if set.Out == Float32 {
		k.InPlace = []int{1}
	}
	return k
}
