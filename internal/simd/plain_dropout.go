package simd

import "konkanitrain/internal/philox"

// factors calls f with the number that each of n elements of a row is multiplied by: 0 or the scale.
func (d Drop) factors(n int, row uint32, f func(i int, factor float32)) {
	scale := d.Scale()
	for g := 0; g < n; g += 128 {
		for lane := range min(16, n-g) {
			words := philox.Block(d.Key, uint32(g/8+lane), row, d.Site, 0)
			for v := range 8 {
				i := g + 16*v + lane
				if i >= n {
					break
				}
				factor := float32(0)
				if words[v/2]>>(16*(v%2))&0xffff >= d.Threshold {
					factor = scale
				}
				f(i, factor)
			}
		}
	}
}

// keep is v*factor, and 0 where the factor is 0 whatever v is.
func keep(v, factor float32) float32 {
	if factor == 0 {
		return 0
	}
	return v * factor
}

func dropoutPlain(dst, x []float32, row uint32, d Drop) {
	d.factors(len(dst), row, func(i int, factor float32) { dst[i] = keep(x[i], factor) })
}

func addDropoutPlain(dst, x []float32, alpha float32, y []float32, row uint32, d Drop) {
	d.factors(len(dst), row, func(i int, factor float32) { dst[i] = x[i] + alpha*keep(y[i], factor) })
}

func swishDropoutPlain(dst, x []float32, row uint32, d Drop) {
	d.factors(len(dst), row, func(i int, factor float32) {
		dst[i] = keep(float32(float64(x[i])*sigmoid64(x[i])), factor)
	})
}

func swishDropoutGradPlain(dx, x, dy []float32, row uint32, d Drop) {
	d.factors(len(dx), row, func(i int, factor float32) {
		dx[i] = keep(float32(float64(dy[i])*swishSlope(x[i])), factor)
	})
}
