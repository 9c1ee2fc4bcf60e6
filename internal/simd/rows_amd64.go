package simd

import "math"

// rowSteps is the parts that a tier's row functions are put together from. Between them lie the few numbers of a row.
type rowSteps struct {
	max           func(x []float32) float32
	expSum        func(dst, x []float32, top float32) float32
	sumExp        func(x []float32, top float32) float32
	scale, shift  func(dst []float32, alpha float32, x []float32)
	dot           func(a, b []float32) float32
	mulShifted    func(ds, p, dp []float32, dot float32)
	sum           func(x []float32) float32
	deviation     func(x []float32, mean float32) float32
	normalize     func(dst, x, gamma, beta []float32, mean, scale float32)
	normGradSums  func(dgamma, dbeta, x, gamma, dy []float32, mean, scale float32) (g, gh float32)
	normGradInput func(dx, x, gamma, dy []float32, mean, scale, g, gh float32)
}

func (s *rowSteps) softmax(dst, x []float32) {
	total := s.expSum(dst, x, s.max(x))
	s.scale(dst, 1/total, dst)
}

func (s *rowSteps) logSoftmax(dst, x []float32) {
	top := s.max(x)
	total := s.sumExp(x, top)
	s.shift(dst, -float32(float64(top)+math.Log(float64(total))), x)
}

func (s *rowSteps) softmaxGrad(ds, p, dp []float32) {
	s.mulShifted(ds, p, dp, s.dot(p, dp))
}

// moments returns the mean and 1/sqrt(variance + eps).
func (s *rowSteps) moments(x []float32, eps float32) (mean, scale float32) {
	n := float32(len(x))
	mean = s.sum(x) / n
	return mean, float32(1 / math.Sqrt(float64(s.deviation(x, mean)/n)+float64(eps)))
}

func (s *rowSteps) layerNorm(dst, x, gamma, beta []float32, eps float32) {
	mean, scale := s.moments(x, eps)
	s.normalize(dst, x, gamma, beta, mean, scale)
}

func (s *rowSteps) layerNormGrad(dx, dgamma, dbeta, x, gamma, dy []float32, eps float32) {
	mean, scale := s.moments(x, eps)
	g, gh := s.normGradSums(dgamma, dbeta, x, gamma, dy, mean, scale)
	n := float32(len(x))
	s.normGradInput(dx, x, gamma, dy, mean, scale, g/n, gh/n)
}
