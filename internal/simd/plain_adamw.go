package simd

import "math"

func adamWPlain(p, m, v, g []float32, a AdamStep) {
	shrink := 1 - a.LR*a.Decay
	for i := range p {
		grad := a.GradScale * g[i]
		m[i] = a.Beta1*m[i] + (1-a.Beta1)*grad
		v[i] = a.Beta2*v[i] + (1-a.Beta2)*grad*grad
		step := a.LR * (m[i] * a.Correct1) / (float32(math.Sqrt(float64(v[i]*a.Correct2))) + a.Eps)
		p[i] = p[i]*shrink - step
	}
}
