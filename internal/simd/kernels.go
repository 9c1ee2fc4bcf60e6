package simd

// kernels is one tier: every function in the form that this tier computes it. The assembly has the same signatures as
// plain Go. All slices of a call have the length that its exported wrapper has cut them to.
type kernels struct {
	name string

	gemm func(w *Workspace, p *product)

	exp, swish, relu    func(dst, x []float32)
	swishGrad, reluGrad func(dx, x, dy []float32)
	glu                 func(dst, a, b []float32)
	gluGrad             func(da, db, a, b, dy []float32)

	add, mulAdd func(dst, a, b []float32)
	addScaled   func(dst, a []float32, alpha float32, b []float32)
	scale, axpy func(dst []float32, alpha float32, x []float32)
	approach    func(dst []float32, alpha float32, x []float32)

	sum, max   func(x []float32) float32
	sumSquares func(x []float32) float64

	softmax, logSoftmax func(dst, x []float32)
	softmaxGrad         func(ds, p, dp []float32)

	layerNorm     func(dst, x, gamma, beta []float32, eps float32)
	layerNormGrad func(dx, dgamma, dbeta, x, gamma, dy []float32, eps float32)

	setRows, columnSum func(dst []float32, rows int, row []float32)

	dropout, swishDropout func(dst, x []float32, row uint32, d Drop)
	addDropout            func(dst, x []float32, alpha float32, y []float32, row uint32, d Drop)
	swishDropoutGrad      func(dx, x, dy []float32, row uint32, d Drop)

	convolve func(c convolution)

	toHalf   func(dst []uint16, x []float32)
	fromHalf func(dst []float32, x []uint16)

	adamW func(p, m, v, g []float32, a AdamStep)
}
