package op

import "konkanitrain/internal/simd"

// The vector kernels run along the channels and take the taps as [K, D]; scratch holds them transposed.

func (s depthwise) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(s.k * s.d)}
}

func (s depthwiseGradInput) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(s.k * s.d)}
}

func (s depthwiseGradWeight) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(s.k*s.d + s.d), Accumulates: true}
}

func (s depthwise) runCPU(e *Env, y Tensor, in []Tensor) {
	taps := e.Scratch[:s.k*s.d]
	transpose(taps, in[1].Data, s.d, s.k)
	for b := range s.b {
		simd.Depthwise(block(y, b, s.b), block(in[0], b, s.b), taps, in[2].Data, s.t, s.d, s.k)
	}
}

func (s depthwiseGradInput) runCPU(e *Env, dx Tensor, in []Tensor) {
	taps := e.Scratch[:s.k*s.d]
	transpose(taps, in[1].Data, s.d, s.k)
	for b := range s.b {
		simd.DepthwiseGradInput(block(dx, b, s.b), block(in[0], b, s.b), taps, s.t, s.d, s.k)
	}
}

func (s depthwiseGradWeight) runCPU(e *Env, dw Tensor, in []Tensor) {
	taps, bias := e.Scratch[:s.k*s.d], e.Scratch[s.k*s.d:][:s.d] // db is summed by its own op
	clear(taps)
	clear(bias)
	for b := range s.b {
		simd.DepthwiseGradWeight(taps, bias, block(in[1], b, s.b), block(in[0], b, s.b), s.t, s.d, s.k)
	}
	e.start(dw.Data)
	addTransposed(dw.Data, taps, s.k, s.d)
}
