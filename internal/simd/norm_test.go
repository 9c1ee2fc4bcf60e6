package simd

import (
	"math"
	"testing"
)

func TestLayerNorm(t *testing.T) {
	const eps = 1e-5
	eachTier(t, func(t *testing.T) {
		r := source(22)
		for _, n := range lengths()[1:] {
			shift := []float64{0, 0.5, -8}[r.IntN(3)]
			x, checkX := operand(t, r, n, func() float32 { return float32(r.NormFloat64() + shift) })
			gamma, checkGamma := operand(t, r, n, normal(r))
			beta, checkBeta := operand(t, r, n, normal(r))
			dy, checkDY := operand(t, r, n, normal(r))
			y, checkY := operand(t, r, n, normal(r))
			dx, checkDX := operand(t, r, n, normal(r))
			dgamma, checkDGamma := operand(t, r, n, normal(r))
			dbeta, checkDBeta := operand(t, r, n, normal(r))
			oldGamma, oldBeta := append([]float32(nil), dgamma...), append([]float32(nil), dbeta...)
			LayerNorm(y, x, gamma, beta, eps)
			LayerNormGrad(dx, dgamma, dbeta, x, gamma, dy, eps)

			mean, scale := moments(x, eps)
			largest, meanG, meanGH, sizeG, sizeGH := 0.0, 0.0, 0.0, 0.0, 0.0
			for i, v := range x {
				h, g := (float64(v)-mean)*scale, float64(dy[i])*float64(gamma[i])
				largest = max(largest, math.Abs(float64(v)))
				meanG, meanGH = meanG+g/float64(n), meanGH+g*h/float64(n)
				sizeG, sizeGH = sizeG+math.Abs(g)/float64(n), sizeGH+math.Abs(g*h)/float64(n)
			}
			// The mean is wrong by the sum's error relative to the largest |x|, and so is x-mean; that over the
			// deviation is the error of h, and a shift of all x-mean by it moves the variance by its square only.
			e := rowError(n)
			errH := func(h float64) float64 { return scale*largest*(e+ulp) + (e+3*ulp)*math.Abs(h) }
			for i, v := range x {
				h, g := (float64(v)-mean)*scale, float64(dy[i])*float64(gamma[i])
				w := math.Abs(float64(gamma[i]))
				near(t, "LayerNorm", i, n, y[i], h*float64(gamma[i])+float64(beta[i]), w*errH(h)+ulp*(w*math.Abs(h)+math.Abs(float64(beta[i]))))
				d := math.Abs(float64(dy[i]))
				near(t, "LayerNormGrad dgamma", i, n, dgamma[i], float64(oldGamma[i])+float64(dy[i])*h, d*errH(h)+ulp*(d*math.Abs(h)+math.Abs(float64(oldGamma[i]))))
				near(t, "LayerNormGrad dbeta", i, n, dbeta[i], float64(oldBeta[i])+float64(dy[i]), ulp*(d+math.Abs(float64(oldBeta[i]))))
				bound := scale * ((e+4*ulp)*(sizeG+math.Abs(h)*sizeGH) + 4*ulp*math.Abs(g) + errH(h)*math.Abs(meanGH) + math.Abs(h)*errH(1)*sizeG + (e+3*ulp)*math.Abs(g-meanG-h*meanGH))
				near(t, "LayerNormGrad dx", i, n, dx[i], scale*(g-meanG-h*meanGH), bound)
			}
			for _, check := range []func(){checkX, checkGamma, checkBeta, checkDY, checkY, checkDX, checkDGamma, checkDBeta} {
				check()
			}
			LayerNormGrad(dy, make([]float32, n), make([]float32, n), x, gamma, dy, eps)
			if i := same(dy, dx); i >= 0 {
				t.Fatalf("LayerNormGrad in place of %d: element %d is %g, want %g", n, i, dy[i], dx[i])
			}
			LayerNorm(x, x, gamma, beta, eps)
			if i := same(x, y); i >= 0 {
				t.Fatalf("LayerNorm in place of %d: element %d is %g, want %g", n, i, x[i], y[i])
			}
			x[r.IntN(n)] = float32(math.NaN())
			LayerNorm(y, x, gamma, beta, eps)
			for i, v := range y {
				if v == v {
					t.Fatalf("LayerNorm of %d with a NaN: element %d is %g, want NaN", n, i, v)
				}
			}
		}
	})
}
