package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd gen && go run ."

// tiers returns what this CPU runs, fastest first.
func tiers() []*kernels {
	var t []*kernels
	x := &cpu.X86
	avx2 := x.HasAVX2 && x.HasFMA && x.HasBMI2
	if avx2 && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		t = append(t, avx512Tier())
	}
	if avx2 {
		t = append(t, avx2Tier())
	}
	return append(t, plainTier())
}

func avx2Tier() *kernels {
	k := plainTier()
	k.name = "avx2"
	k.gemm = avx2Tiles.gemm
	return k
}

func avx512Tier() *kernels {
	k := plainTier()
	k.name = "avx512"
	k.gemm = avx512Tiles.gemm
	return k
}

var avx2Tiles = tileSet{
	lanes: 8,
	kernels: [][2]tileKernel{
		{gemm1x1AVX2, gemm1x2AVX2}, {gemm2x1AVX2, gemm2x2AVX2}, {gemm3x1AVX2, gemm3x2AVX2},
		{gemm4x1AVX2, gemm4x2AVX2}, {gemm5x1AVX2, gemm5x2AVX2}, {gemm6x1AVX2, gemm6x2AVX2},
	},
	copy: copyPanelAVX2,
}

var avx512Tiles = tileSet{
	lanes: 16,
	kernels: [][2]tileKernel{
		{gemm1x1AVX512, gemm1x2AVX512}, {gemm2x1AVX512, gemm2x2AVX512}, {gemm3x1AVX512, gemm3x2AVX512},
		{gemm4x1AVX512, gemm4x2AVX512}, {gemm5x1AVX512, gemm5x2AVX512}, {gemm6x1AVX512, gemm6x2AVX512},
		{gemm7x1AVX512, gemm7x2AVX512}, {gemm8x1AVX512, gemm8x2AVX512}, {gemm9x1AVX512, gemm9x2AVX512},
		{gemm10x1AVX512, gemm10x2AVX512}, {gemm11x1AVX512, gemm11x2AVX512}, {gemm12x1AVX512, gemm12x2AVX512},
	},
	copy: copyPanelAVX512,
}
