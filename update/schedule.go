package update

import (
	"fmt"
	"math"
)

// LearningRate is the Noam schedule with its peak stated (Vaswani et al. 2017, section 5.3, rescaled): linear
// up to peak at update warmup, then falling with the square root. update counts from 1.
//
//	lr(t) = peak * min(t/warmup, sqrt(warmup/t))
func LearningRate(peak float64, warmup, update int) float64 {
	t, w := float64(update), float64(warmup)
	return peak * min(t/w, math.Sqrt(w/t))
}

// shortOfPeak is the warning about a run of so many updates that ends while the rate still rises; "" if it doesn't.
func shortOfPeak(warmup, updates int) string {
	if updates >= warmup {
		return ""
	}
	return fmt.Sprintf("WARNING: training ends after %s, and the rate rises for %d (warmup_updates): it reaches only %.2g %% of learning_rate; "+
		"train longer, or set warmup_updates to fewer than %d", count(updates, "update"), warmup, 100*float64(updates)/float64(warmup), updates)
}
