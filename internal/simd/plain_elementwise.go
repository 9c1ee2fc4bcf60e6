package simd

import "math"

func sigmoid64(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }

func expPlain(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

func swishPlain(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(float64(v) * sigmoid64(v))
	}
}

// swishSlope is the derivative of swish. 1-s is computed as sigmoid(-x), which keeps its digits where s is near 1.
func swishSlope(x float32) float64 {
	s := sigmoid64(x)
	return s * (1 + float64(x)*sigmoid64(-x))
}

func swishGradPlain(dx, x, dy []float32) {
	for i, v := range x {
		dx[i] = float32(float64(dy[i]) * swishSlope(v))
	}
}

func reluPlain(dst, x []float32) {
	for i, v := range x {
		if v <= 0 {
			v = 0
		}
		dst[i] = v
	}
}

func reluGradPlain(dx, y, dy []float32) {
	for i, v := range y {
		if v > 0 {
			dx[i] = dy[i]
		} else {
			dx[i] = 0
		}
	}
}

func gluPlain(dst, a, b []float32) {
	for i, v := range b {
		dst[i] = float32(float64(a[i]) * sigmoid64(v))
	}
}

func gluGradPlain(da, db, a, b, dy []float32) {
	for i, v := range b {
		s, t := sigmoid64(v), sigmoid64(-v)
		x, g := float64(a[i]), float64(dy[i])
		da[i] = float32(g * s)
		db[i] = float32(g * x * s * t)
	}
}

func addPlain(dst, a, b []float32) {
	for i, v := range a {
		dst[i] = v + b[i]
	}
}

func addScaledPlain(dst, a []float32, alpha float32, b []float32) {
	for i, v := range a {
		dst[i] = v + alpha*b[i]
	}
}

func axpyPlain(dst []float32, alpha float32, x []float32) {
	for i, v := range x {
		dst[i] += alpha * v
	}
}

func approachPlain(dst []float32, share float32, x []float32) {
	for i, v := range x {
		dst[i] += share * (v - dst[i])
	}
}

func scalePlain(dst []float32, alpha float32, x []float32) {
	for i, v := range x {
		dst[i] = alpha * v
	}
}

func mulAddPlain(dst, a, b []float32) {
	for i, v := range a {
		dst[i] += v * b[i]
	}
}
