package op

import "konkanitrain/internal/simd"

// The vector kernels run along the channels and take the taps as [K, D]; scratch holds them transposed.

func depthwiseCPU(s depthwiseShape) func(*Env, Tensor, []Tensor) {
	return func(e *Env, y Tensor, in []Tensor) {
		taps := e.Scratch[:s.k*s.d]
		transpose(taps, in[1].Data, s.d, s.k)
		for b := range s.b {
			simd.Depthwise(block(y, b, s.b), block(in[0], b, s.b), taps, in[2].Data, s.t, s.d, s.k)
		}
	}
}

func depthwiseGradInputCPU(s depthwiseShape) func(*Env, Tensor, []Tensor) {
	return func(e *Env, dx Tensor, in []Tensor) {
		taps := e.Scratch[:s.k*s.d]
		transpose(taps, in[1].Data, s.d, s.k)
		for b := range s.b {
			simd.DepthwiseGradInput(block(dx, b, s.b), block(in[0], b, s.b), taps, s.t, s.d, s.k)
		}
	}
}

func depthwiseGradWeightCPU(s depthwiseShape) func(*Env, Tensor, []Tensor) {
	return func(e *Env, dw Tensor, in []Tensor) {
		taps, bias := e.Scratch[:s.k*s.d], e.Scratch[s.k*s.d:][:s.d] // db is summed by its own op
		clear(taps)
		clear(bias)
		for b := range s.b {
			simd.DepthwiseGradWeight(taps, bias, block(in[1], b, s.b), block(in[0], b, s.b), s.t, s.d, s.k)
		}
		e.start(dw.Data)
		addTransposed(dw.Data, taps, s.k, s.d)
	}
}

// transpose sets dst [c, r] to the transpose of src [r, c]. Four rows go at once: their elements are
// neighbours in dst.
func transpose(dst, src []float32, r, c int) {
	i := 0
	for ; i+4 <= r; i += 4 {
		r0, r1, r2, r3 := src[i*c:][:c], src[(i+1)*c:][:c], src[(i+2)*c:][:c], src[(i+3)*c:][:c]
		for j := range c {
			to := dst[j*r+i:][:4]
			to[0], to[1], to[2], to[3] = r0[j], r1[j], r2[j], r3[j]
		}
	}
	for ; i < r; i++ {
		for j, v := range src[i*c:][:c] {
			dst[j*r+i] = v
		}
	}
}

// addTransposed adds the transpose of src [r, c] to dst [c, r].
func addTransposed(dst, src []float32, r, c int) {
	for i := range r {
		for j, v := range src[i*c:][:c] {
			dst[j*r+i] += v
		}
	}
}
