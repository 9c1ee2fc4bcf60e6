package simd

// Depthwise convolves each channel with its own k taps: with p = (k-1)/2 and x zero outside of [0, t),
//
//	dst[i][c] = bias[c] + sum over j of w[j][c] * x[i+j-p][c]
//
// x, dst [t, d], w [k, d], bias [d]. The sum starts at the bias and goes from the first tap to the last, over those
// inside, so zero frames after x change nothing. dst must not overlap x.
func Depthwise(dst, x, w, bias []float32, t, d, k int) {
	c := convolution{out: dst[:t*d], tap: w[:k*d], x: x[:t*d], start: bias[:d], d: d, outs: t, taps: k, pad: (k - 1) / 2}
	active.convolve(c)
}

// DepthwiseGradInput sets dx[i][c] = sum over j of w[j][c] * dy[i-j+p][c], the gradient for the input of Depthwise.
// dx, dy [t, d], w [k, d]. dx must not overlap dy.
func DepthwiseGradInput(dx, dy, w []float32, t, d, k int) {
	c := convolution{out: dx[:t*d], tap: w[:k*d], x: dy[:t*d], d: d, outs: t, taps: k, pad: k - 1 - (k-1)/2, reverse: true}
	active.convolve(c)
}

// DepthwiseGradWeight adds the gradients for the taps and the bias of Depthwise:
//
//	dw[j][c] += sum over i of dy[i][c] * x[i+j-p][c],  dbias[c] += sum over i of dy[i][c]
//
// x, dy [t, d], dw [k, d], dbias [d].
func DepthwiseGradWeight(dw, dbias, x, dy []float32, t, d, k int) {
	c := convolution{out: dw[:k*d], tap: dy[:t*d], x: x[:t*d], d: d, outs: k, taps: t, pad: (k - 1) / 2, add: true}
	active.convolve(c)
	ColumnSum(dbias[:d], dy, t)
}

// convolution is the one form that the forward pass and both gradients have:
//
//	out[i] = start + sum over j in [0, taps) of tap[j] * x[i+j-pad]   over the rows i+j-pad that x has
//
// for i in [0, outs), each [d] wide. The gradient for the input reads the taps in reverse; the gradient for the taps
// takes dy as the taps and the taps as the output, and adds.
type convolution struct {
	out, tap, x []float32 // [outs, d], [taps, d], [len(x)/d, d]
	start       []float32 // [d], or nil for zero
	d           int
	outs, taps  int
	pad         int
	reverse     bool // tap[taps-1-j] in place of tap[j]
	add         bool // out += in place of out =
}
