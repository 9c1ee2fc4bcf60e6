package op

import "konkanitrain/internal/simd"

// One vector operation along the channels for each output and tap; scratch holds the taps as [9, C].

func (s subsampleDepthwise) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(9 * s.c)}
}

func (s subsampleDepthwiseGradInput) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(9 * s.c)}
}

func (s subsampleDepthwiseGradWeight) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(9 * s.c), Accumulates: true}
}

func (s subsampleDepthwise) runCPU(e *Env, y Tensor, in []Tensor) {
	taps := e.Scratch[:9*s.c]
	transpose(taps, in[1].Data, s.c, 9)
	for b := range s.b {
		x, y := block(in[0], b, s.b), block(y, b, s.b)
		n, nOut := s.frames(in[3].Ints, b)
		for t := range s.tOut() {
			simd.SetRows(y[t*s.fOut()*s.c:], s.fOut(), in[2].Data)
			if t >= nOut {
				continue
			}
			for f := range s.fOut() {
				out := y[(t*s.fOut()+f)*s.c:][:s.c]
				from, to := window(t, n)
				left, right := window(f, s.f)
				for i := from; i < to; i++ {
					for j := left; j < right; j++ {
						simd.MulAdd(out, taps[(3*i+j)*s.c:], x[((2*t+i-1)*s.f+2*f+j-1)*s.c:])
					}
				}
			}
		}
	}
}

func (s subsampleDepthwiseGradInput) runCPU(e *Env, dx Tensor, in []Tensor) {
	taps := e.Scratch[:9*s.c]
	transpose(taps, in[1].Data, s.c, 9)
	clear(dx.Data)
	for b := range s.b {
		dx, dy := block(dx, b, s.b), block(in[0], b, s.b)
		n, nOut := s.frames(in[2].Ints, b)
		for t := range nOut {
			for f := range s.fOut() {
				out := dy[(t*s.fOut()+f)*s.c:][:s.c]
				from, to := window(t, n)
				left, right := window(f, s.f)
				for i := from; i < to; i++ {
					for j := left; j < right; j++ {
						simd.MulAdd(dx[((2*t+i-1)*s.f+2*f+j-1)*s.c:][:s.c], taps[(3*i+j)*s.c:], out)
					}
				}
			}
		}
	}
}

func (s subsampleDepthwiseGradWeight) runCPU(e *Env, dw Tensor, in []Tensor) {
	taps := e.Scratch[:9*s.c]
	clear(taps)
	for b := range s.b {
		dy, x := block(in[0], b, s.b), block(in[1], b, s.b)
		n, nOut := s.frames(in[2].Ints, b)
		for t := range nOut {
			for f := range s.fOut() {
				out := dy[(t*s.fOut()+f)*s.c:][:s.c]
				from, to := window(t, n)
				left, right := window(f, s.f)
				for i := from; i < to; i++ {
					for j := left; j < right; j++ {
						simd.MulAdd(taps[(3*i+j)*s.c:][:s.c], out, x[((2*t+i-1)*s.f+2*f+j-1)*s.c:])
					}
				}
			}
		}
	}
	e.start(dw.Data)
	addTransposed(dw.Data, taps, 9, s.c)
}
