package simd

// Exp sets dst[i] = exp(x[i]), with a relative error below 2e-7. What is below the smallest subnormal number becomes 0,
// what is beyond the largest float32 becomes +Inf.
func Exp(dst, x []float32) { active.exp(dst, x[:len(dst)]) }

// Swish sets dst[i] = x[i] * sigmoid(x[i]). Swish(-Inf) is NaN.
func Swish(dst, x []float32) { active.swish(dst, x[:len(dst)]) }

// SwishGrad sets dx[i] = dy[i] * s*(1 + x[i]*(1-s)), s = sigmoid(x[i]).
func SwishGrad(dx, x, dy []float32) { active.swishGrad(dx, x[:len(dx)], dy[:len(dx)]) }

// Relu sets dst[i] = x[i] where x[i] > 0 or x[i] is NaN, and 0 elsewhere: a NaN stays visible.
func Relu(dst, x []float32) { active.relu(dst, x[:len(dst)]) }

// ReluGrad sets dx[i] = dy[i] where the output y[i] > 0, and 0 elsewhere (also where y[i] is NaN).
func ReluGrad(dx, y, dy []float32) { active.reluGrad(dx, y[:len(dx)], dy[:len(dx)]) }

// GLU sets dst[i] = a[i] * sigmoid(b[i]).
func GLU(dst, a, b []float32) { active.glu(dst, a[:len(dst)], b[:len(dst)]) }

// GLUGrad sets da[i] = dy[i]*s and db[i] = dy[i]*a[i]*s*(1-s), s = sigmoid(b[i]). da may be a or dy, db may be b or dy.
func GLUGrad(da, db, a, b, dy []float32) {
	n := len(da)
	active.gluGrad(da, db[:n], a[:n], b[:n], dy[:n])
}

// Add sets dst[i] = a[i] + b[i].
func Add(dst, a, b []float32) { active.add(dst, a[:len(dst)], b[:len(dst)]) }

// AddScaled sets dst[i] = a[i] + alpha*b[i].
func AddScaled(dst, a []float32, alpha float32, b []float32) {
	active.addScaled(dst, a[:len(dst)], alpha, b[:len(dst)])
}

// Axpy sets dst[i] += alpha*x[i].
func Axpy(dst []float32, alpha float32, x []float32) { active.axpy(dst, alpha, x[:len(dst)]) }

// Approach moves dst by a share of the way to x: dst[i] += share*(x[i]-dst[i]). Where both are equal dst
// stays; a difference beyond the largest float32 is infinite.
func Approach(dst []float32, share float32, x []float32) { active.approach(dst, share, x[:len(dst)]) }

// Scale sets dst[i] = alpha*x[i].
func Scale(dst []float32, alpha float32, x []float32) { active.scale(dst, alpha, x[:len(dst)]) }

// MulAdd sets dst[i] += a[i]*b[i].
func MulAdd(dst, a, b []float32) { active.mulAdd(dst, a[:len(dst)], b[:len(dst)]) }
