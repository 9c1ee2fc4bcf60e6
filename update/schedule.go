package update

import "math"

// LearningRate is the Noam schedule with its peak stated (Vaswani et al. 2017, section 5.3, rescaled): linear
// up to peak at update warmup, then falling with the square root. update counts from 1.
//
//	lr(t) = peak * min(t/warmup, sqrt(warmup/t))
func LearningRate(peak float64, warmup, update int) float64 {
	t, w := float64(update), float64(warmup)
	return peak * min(t/w, math.Sqrt(w/t))
}
