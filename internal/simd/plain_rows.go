package simd

import "math"

func sumPlain(x []float32) float32 {
	s := 0.0
	for _, v := range x {
		s += float64(v)
	}
	return float32(s)
}

func maxPlain(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

func sumSquaresPlain(x []float32) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}

func softmaxPlain(dst, x []float32) {
	top, s := float64(maxPlain(x)), 0.0
	for i, v := range x {
		e := math.Exp(float64(v) - top)
		dst[i] = float32(e)
		s += e
	}
	for i := range dst {
		dst[i] = float32(float64(dst[i]) / s)
	}
}

func logSoftmaxPlain(dst, x []float32) {
	top, s := float64(maxPlain(x)), 0.0
	for _, v := range x {
		s += math.Exp(float64(v) - top)
	}
	shift := top + math.Log(s)
	for i, v := range x {
		dst[i] = float32(float64(v) - shift)
	}
}

func softmaxGradPlain(ds, p, dp []float32) {
	s := 0.0
	for i, v := range p {
		s += float64(v) * float64(dp[i])
	}
	for i, v := range p {
		ds[i] = float32(float64(v) * (float64(dp[i]) - s))
	}
}

// moments returns the mean of x and 1/sqrt(variance + eps).
func moments(x []float32, eps float32) (mean, scale float64) {
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	variance := 0.0
	for _, v := range x {
		d := float64(v) - mean
		variance += d * d
	}
	return mean, 1 / math.Sqrt(variance/float64(len(x))+float64(eps))
}

func layerNormPlain(dst, x, gamma, beta []float32, eps float32) {
	mean, scale := moments(x, eps)
	for i, v := range x {
		dst[i] = float32((float64(v)-mean)*scale*float64(gamma[i]) + float64(beta[i]))
	}
}

func layerNormGradPlain(dx, dgamma, dbeta, x, gamma, dy []float32, eps float32) {
	mean, scale := moments(x, eps)
	meanG, meanGH := 0.0, 0.0
	for i, v := range x {
		h, g := (float64(v)-mean)*scale, float64(dy[i])*float64(gamma[i])
		meanG += g
		meanGH += g * h
		dgamma[i] += float32(float64(dy[i]) * h)
		dbeta[i] += dy[i]
	}
	n := float64(len(x))
	meanG, meanGH = meanG/n, meanGH/n
	for i, v := range x {
		h, g := (float64(v)-mean)*scale, float64(dy[i])*float64(gamma[i])
		dx[i] = float32(scale * (g - meanG - h*meanGH))
	}
}

func setRowsPlain(dst []float32, rows int, bias []float32) {
	d := len(bias)
	for r := range rows {
		copy(dst[r*d:][:d], bias)
	}
}

func columnSumPlain(dst []float32, rows int, x []float32) {
	d := len(dst)
	for r := range rows {
		for j, v := range x[r*d:][:d] {
			dst[j] += v
		}
	}
}
