package op

import "konkanitrain/internal/simd"

// The convolution is a product of the patches [n, 9] that the n = frames*F' outputs see with the kernels
// [C, 9], taken a few output frames at a time: patches and results then stay in the cache.

// patchOutputs is about how many outputs are taken at a time.
const patchOutputs = 256

// step is the number of output frames taken at a time, and columns the outputs in them.
func (s subsampling) step() int    { return max(1, patchOutputs/s.fOut()) }
func (s subsampling) columns() int { return s.step() * s.fOut() }

func subsampleConvCPU(s subsampling) func(*Env, Tensor, []Tensor) {
	width := s.fOut() * s.c
	return func(e *Env, y Tensor, in []Tensor) {
		for b := range s.b {
			x, y := block(in[0], b, s.b), block(y, b, s.b)
			n, nOut := s.frames(in[3].Ints, b)
			for t := 0; t < nOut; t += s.step() {
				m := min(s.step(), nOut-t)
				out := y[t*width:][:m*width]
				s.patches(e.Scratch, x, t, m, n)
				simd.SetRows(out, m*s.fOut(), in[2].Data)
				e.BLAS.Sgemm(noTrans, trans, m*s.fOut(), s.c, 9, 1, e.Scratch, 9, in[1].Data, 9, 1, out, s.c)
				simd.Relu(out, out)
			}
			padding := y[nOut*width:]
			simd.SetRows(padding, (s.tOut()-nOut)*s.fOut(), in[2].Data)
			simd.Relu(padding, padding)
		}
	}
}

func subsampleConvGradWeightCPU(s subsampling) func(*Env, Tensor, []Tensor) {
	width := s.fOut() * s.c
	return func(e *Env, dw Tensor, in []Tensor) {
		// As [9, C]: the long side of the product then lies along the vectors.
		taps, patches := e.Scratch[:9*s.c], e.Scratch[9*s.c:]
		clear(taps)
		for b := range s.b {
			g, x := block(in[0], b, s.b), block(in[1], b, s.b)
			n, nOut := s.frames(in[2].Ints, b)
			for t := 0; t < nOut; t += s.step() {
				m := min(s.step(), nOut-t)
				s.patches(patches, x, t, m, n)
				e.BLAS.Sgemm(trans, noTrans, 9, s.c, m*s.fOut(), 1, patches, 9, g[t*width:], s.c, 1, taps, s.c)
			}
		}
		e.start(dw.Data)
		addTransposed(dw.Data, taps, 9, s.c)
	}
}

func subsampleConvGradInputCPU(s subsampling) func(*Env, Tensor, []Tensor) {
	width := s.fOut() * s.c
	return func(e *Env, dx Tensor, in []Tensor) {
		clear(dx.Data)
		for b := range s.b {
			dx, g := block(dx, b, s.b), block(in[0], b, s.b)
			n, nOut := s.frames(in[2].Ints, b)
			for t := 0; t < nOut; t += s.step() {
				m := min(s.step(), nOut-t)
				e.BLAS.Sgemm(noTrans, noTrans, m*s.fOut(), 9, s.c, 1, g[t*width:], s.c, in[1].Data, 9, 0, e.Scratch, 9)
				s.addPatches(dx, e.Scratch, t, m, n)
			}
		}
	}
}

// patches writes what the outputs of m frames from t on see of the n frames x [n, F]: dst [m*F', 9].
func (s subsampling) patches(dst, x []float32, t, m, n int) {
	dst = dst[:m*s.fOut()*9]
	clear(dst)
	for r := range m {
		from, to := window(t+r, n)
		for i := from; i < to; i++ {
			row := x[(2*(t+r)+i-1)*s.f:][:s.f]
			for f := range s.fOut() {
				patch := dst[(r*s.fOut()+f)*9+3*i:][:3]
				if f > 0 {
					patch[0] = row[2*f-1]
				}
				patch[1] = row[2*f]
				if 2*f+1 < s.f {
					patch[2] = row[2*f+1]
				}
			}
		}
	}
}

// addPatches takes patches [m*F', 9] of the outputs of m frames from t on back to the n frames dx [n, F]: it
// adds where patches copies.
func (s subsampling) addPatches(dx, patches []float32, t, m, n int) {
	for r := range m {
		from, to := window(t+r, n)
		for i := from; i < to; i++ {
			row := dx[(2*(t+r)+i-1)*s.f:][:s.f]
			for f := range s.fOut() {
				patch := patches[(r*s.fOut()+f)*9+3*i:][:3]
				if f > 0 {
					row[2*f-1] += patch[0]
				}
				row[2*f] += patch[1]
				if 2*f+1 < s.f {
					row[2*f+1] += patch[2]
				}
			}
		}
	}
}
