package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd gen && go run ."

// tiers returns what this CPU runs, fastest first.
func tiers() []*kernels {
	var t []*kernels
	x := &cpu.X86
	avx2 := x.HasAVX2 && x.HasFMA && x.HasBMI2 && x.HasF16C
	if avx2 && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		t = append(t, avx512Tier())
	}
	if avx2 {
		t = append(t, avx2Tier())
	}
	return append(t, plainTier())
}
