package op

import "konkanitrain/internal/simd"

// The convolution is a product of the patches [9, n] that the n = frames*F' outputs see with the kernels
// [C, 9], taken a few output frames at a time: patches and results then stay in the cache.

// patchOutputs is about how many outputs are taken at a time.
const patchOutputs = 256

// step is the number of output frames taken at a time, and columns the outputs in them.
func (s subsampling) step() int    { return max(1, patchOutputs/s.fOut()) }
func (s subsampling) columns() int { return s.step() * s.fOut() }

func (s subsampleConv) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(9 * s.columns())}
}

func (s subsampleConvGradInput) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(9 * s.columns())}
}

func (s subsampleConvGradWeight) cpu() Kernel {
	return Kernel{Run: s.runCPU, Scratch: floatBytes(9*s.c + 9*s.columns()), Accumulates: true}
}

func (s subsampleConv) runCPU(e *Env, y Tensor, in []Tensor) {
	width := s.fOut() * s.c
	for b := range s.b {
		x, y := block(in[0], b, s.b), block(y, b, s.b)
		n, nOut := s.frames(in[3].Ints, b)
		for t := 0; t < nOut; t += s.step() {
			m := min(s.step(), nOut-t)
			out := y[t*width:][:m*width]
			s.patches(e.Scratch, x, t, m, n)
			simd.SetRows(out, m*s.fOut(), in[2].Data)
			e.BLAS.Sgemm(trans, trans, m*s.fOut(), s.c, 9, 1, e.Scratch, m*s.fOut(), in[1].Data, 9, 1, out, s.c)
			simd.Relu(out, out)
		}
		padding := y[nOut*width:]
		simd.SetRows(padding, (s.tOut()-nOut)*s.fOut(), in[2].Data)
		simd.Relu(padding, padding)
	}
}

func (s subsampleConvGradWeight) runCPU(e *Env, dw Tensor, in []Tensor) {
	width := s.fOut() * s.c
	// As [9, C]: the long side of the product then lies along the vectors.
	taps, patches := e.Scratch[:9*s.c], e.Scratch[9*s.c:]
	clear(taps)
	for b := range s.b {
		g, x := block(in[0], b, s.b), block(in[1], b, s.b)
		n, nOut := s.frames(in[2].Ints, b)
		for t := 0; t < nOut; t += s.step() {
			m := min(s.step(), nOut-t)
			s.patches(patches, x, t, m, n)
			e.BLAS.Sgemm(noTrans, noTrans, 9, s.c, m*s.fOut(), 1, patches, m*s.fOut(), g[t*width:], s.c, 1, taps, s.c)
		}
	}
	e.start(dw.Data)
	addTransposed(dw.Data, taps, 9, s.c)
}

func (s subsampleConvGradInput) runCPU(e *Env, dx Tensor, in []Tensor) {
	width := s.fOut() * s.c
	clear(dx.Data)
	for b := range s.b {
		dx, g := block(dx, b, s.b), block(in[0], b, s.b)
		n, nOut := s.frames(in[2].Ints, b)
		for t := 0; t < nOut; t += s.step() {
			m := min(s.step(), nOut-t)
			e.BLAS.Sgemm(trans, trans, 9, m*s.fOut(), s.c, 1, in[1].Data, 9, g[t*width:], s.c, 0, e.Scratch, m*s.fOut())
			s.addPatches(dx, e.Scratch, t, m, n)
		}
	}
}

// patches writes what the n = m*F' outputs of m frames from t on see of the first own frames of x [T, F]:
// dst [9, n], a row for each tap.
func (s subsampling) patches(dst, x []float32, t, m, own int) {
	n := m * s.fOut()
	dst = dst[:9*n]
	for r := range m {
		from, to := window(t+r, own)
		for i := range 3 {
			left := dst[3*i*n+r*s.fOut():][:s.fOut()]
			center := dst[(3*i+1)*n+r*s.fOut():][:s.fOut()]
			right := dst[(3*i+2)*n+r*s.fOut():][:s.fOut()]
			if i < from || i >= to {
				clear(left)
				clear(center)
				clear(right)
				continue
			}
			row := x[(2*(t+r)+i-1)*s.f:][:s.f]
			for f := range s.f / 2 {
				center[f], right[f] = row[2*f], row[2*f+1]
			}
			if s.f%2 == 1 { // the last output has no bin on its right
				center[s.f/2], right[s.f/2] = row[s.f-1], 0
			}
			left[0] = 0
			copy(left[1:], right) // what is right of one output is left of the next
		}
	}
}

// addPatches takes patches [9, n] back to dx [T, F]: it adds where patches copies.
func (s subsampling) addPatches(dx, patches []float32, t, m, own int) {
	n := m * s.fOut()
	for r := range m {
		from, to := window(t+r, own)
		for i := from; i < to; i++ {
			left := patches[3*i*n+r*s.fOut():][:s.fOut()]
			center := patches[(3*i+1)*n+r*s.fOut():][:s.fOut()]
			right := patches[(3*i+2)*n+r*s.fOut():][:s.fOut()]
			row := dx[(2*(t+r)+i-1)*s.f:][:s.f]
			for f := range s.fOut() {
				row[2*f] += center[f]
			}
			for f := range s.f / 2 {
				row[2*f+1] += right[f]
			}
			for f := 1; f < s.fOut(); f++ {
				row[2*f-1] += left[f]
			}
		}
	}
}
