package simd

import (
	"math"
	"testing"
)

func TestAdamW(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(60)
		for _, n := range lengths() {
			step := float64(1 + r.IntN(1000))
			a := AdamStep{LR: 1e-3, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, Decay: 1e-3, GradScale: 0.37,
				Correct1: float32(1 / (1 - math.Pow(0.9, step))), Correct2: float32(1 / (1 - math.Pow(0.98, step)))}
			p, checkP := operand(t, r, n, normal(r))
			m, checkM := operand(t, r, n, normal(r))
			v, checkV := operand(t, r, n, func() float32 { return float32(math.Abs(r.NormFloat64())) })
			g, checkG := operand(t, r, n, normal(r))
			for i := range n {
				if r.IntN(5) == 0 {
					m[i], v[i] = 0, 0
				}
				if r.IntN(5) == 0 {
					g[i] = 0
				}
			}
			p0, m0, v0 := append([]float32(nil), p...), append([]float32(nil), m...), append([]float32(nil), v...)
			AdamW(p, m, v, g, a)
			for _, check := range []func(){checkP, checkM, checkV, checkG} {
				check()
			}
			b1, b2 := float64(a.Beta1), float64(a.Beta2)
			for i := range n {
				grad := float64(a.GradScale) * float64(g[i])
				wantM := b1*float64(m0[i]) + float64(1-a.Beta1)*grad
				wantV := b2*float64(v0[i]) + float64(1-a.Beta2)*grad*grad
				// Three roundings in each term.
				near(t, "AdamW m", i, n, m[i], wantM, 2*ulp*(b1*math.Abs(float64(m0[i]))+0.1*math.Abs(grad)))
				near(t, "AdamW v", i, n, v[i], wantV, 3*ulp*wantV)
				// The step from the moments that were stored: six roundings, one of them halved by the root; then p's.
				change := float64(a.LR) * float64(m[i]) * float64(a.Correct1) / (math.Sqrt(float64(v[i])*float64(a.Correct2)) + float64(a.Eps))
				want := float64(p0[i])*(1-float64(a.LR)*float64(a.Decay)) - change
				near(t, "AdamW p", i, n, p[i], want, 1.5*ulp*math.Abs(float64(p0[i]))+5*ulp*math.Abs(change))
			}
		}
	})
}

// TestAdamWSpecial: a gradient that isn't a number spoils its own parameter and no other.
func TestAdamWSpecial(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		const n = 37
		for at := range n {
			p, m, v, g := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range g {
				g[i] = 1
			}
			g[at] = float32(math.NaN())
			AdamW(p, m, v, g, AdamStep{LR: 1e-3, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, Correct1: 10, Correct2: 50, GradScale: 1})
			for i := range n {
				if (p[i] != p[i]) != (i == at) {
					t.Fatalf("with a NaN in gradient %d, parameter %d is %g", at, i, p[i])
				}
			}
		}
	})
}
