package simd

// Sum returns the sum of x, or 0 for no element. The order of summation depends on the length and the tier.
func Sum(x []float32) float32 { return active.sum(x) }

// Max returns the largest element, -Inf for no element, and NaN if any element is NaN.
func Max(x []float32) float32 { return active.max(x) }

// SumSquares returns the sum of x[i]*x[i], accumulated in float64.
func SumSquares(x []float32) float64 { return active.sumSquares(x) }

// Softmax sets one row dst = exp(x - max x) / sum exp(x - max x). A row of -Inf alone, one with +Inf and one with NaN
// become NaN.
func Softmax(dst, x []float32) { active.softmax(dst, x[:len(dst)]) }

// LogSoftmax sets one row dst = x - max x - log(sum exp(x - max x)).
func LogSoftmax(dst, x []float32) { active.logSoftmax(dst, x[:len(dst)]) }

// SoftmaxGrad sets one row ds = p * (dp - sum(p*dp)), the gradient for the input of Softmax where p is its output.
func SoftmaxGrad(ds, p, dp []float32) { active.softmaxGrad(ds, p[:len(ds)], dp[:len(ds)]) }

// LayerNorm normalizes one row: dst = (x - mean)/sqrt(variance + eps)*gamma + beta, where the variance is the mean of
// the squared deviations.
func LayerNorm(dst, x, gamma, beta []float32, eps float32) {
	n := len(dst)
	active.layerNorm(dst, x[:n], gamma[:n], beta[:n], eps)
}

// LayerNormGrad takes one row back: with h = (x - mean)*r, r = 1/sqrt(variance + eps) and g = dy*gamma,
//
//	dx = r * (g - mean(g) - h*mean(g*h)),  dgamma += dy*h,  dbeta += dy
//
// dx may be dy.
func LayerNormGrad(dx, dgamma, dbeta, x, gamma, dy []float32, eps float32) {
	n := len(dx)
	active.layerNormGrad(dx, dgamma[:n], dbeta[:n], x[:n], gamma[:n], dy[:n], eps)
}

// SetRows sets each row of dst [rows, d] to bias [d].
func SetRows(dst []float32, rows int, bias []float32) {
	active.setRows(dst[:rows*len(bias)], rows, bias)
}

// ColumnSum adds the rows of x [rows, d] to dst [d], first row first.
func ColumnSum(dst, x []float32, rows int) {
	active.columnSum(dst, rows, x[:rows*len(dst)])
}
