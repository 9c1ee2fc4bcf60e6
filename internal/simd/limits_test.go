package simd

import "testing"

// TestLimits: what is measured is a rate of this century, in every tier.
func TestLimits(t *testing.T) {
	for _, tier := range tierNames() {
		useTier(t, tier)
		flops, bytes := Limits()
		t.Logf("%s: %.1f GFLOP/s, %.1f GB/s", tier, flops/1e9, bytes/1e9)
		if flops < 1e7 || flops > 1e13 || bytes < 1e7 || bytes > 1e13 {
			t.Errorf("%s: %g operations and %g bytes a second", tier, flops, bytes)
		}
	}
}
