package simd

func avx512Tier() *kernels {
	return &kernels{
		name: "avx512",
		gemm: avx512Tiles.gemm,
		exp:  expAVX512, swish: swishAVX512, relu: reluAVX512,
		swishGrad: swishGradAVX512, reluGrad: reluGradAVX512,
		glu: gluAVX512, gluGrad: gluGradAVX512,
		add: addAVX512, mulAdd: mulAddAVX512,
		addScaled: addScaledAVX512, scale: scaleAVX512, axpy: axpyAVX512, approach: approachAVX512,
		sum: sumAVX512, max: maxAVX512, sumSquares: sumSquaresAVX512,
		softmax: avx512Rows.softmax, logSoftmax: avx512Rows.logSoftmax, softmaxGrad: avx512Rows.softmaxGrad,
		layerNorm: avx512Rows.layerNorm, layerNormGrad: avx512Rows.layerNormGrad,
		setRows: setRowsAVX512, columnSum: columnSumAVX512,
		dropout: dropWith(dropoutAVX512), addDropout: addDropWith(addDropoutAVX512),
		swishDropout: dropWith(swishDropoutAVX512), swishDropoutGrad: dropGradWith(swishDropoutGradAVX512),
		convolve: avx512Convolve.convolve,
		toHalf:   toHalfWith(16, toHalfAVX512), fromHalf: fromHalfWith(16, fromHalfAVX512),
		adamW: adamWWith(adamWAVX512),
	}
}

var avx512Rows = rowSteps{
	max: maxAVX512, expSum: expSumAVX512, sumExp: sumExpAVX512, scale: scaleAVX512, shift: shiftAVX512,
	dot: dotShortAVX512, mulShifted: mulShiftedAVX512,
	sum: sumShortAVX512, deviation: deviationAVX512, normalize: normalizeAVX512,
	normGradSums: normGradSumsAVX512, normGradInput: normGradInputAVX512,
}

var avx512Tiles = tileSet{
	lanes: 16,
	kernels: [][2]tileKernel{
		{gemm1x1AVX512, gemm1x2AVX512}, {gemm2x1AVX512, gemm2x2AVX512}, {gemm3x1AVX512, gemm3x2AVX512},
		{gemm4x1AVX512, gemm4x2AVX512}, {gemm5x1AVX512, gemm5x2AVX512}, {gemm6x1AVX512, gemm6x2AVX512},
		{gemm7x1AVX512, gemm7x2AVX512}, {gemm8x1AVX512, gemm8x2AVX512}, {gemm9x1AVX512, gemm9x2AVX512},
		{gemm10x1AVX512, gemm10x2AVX512}, {gemm11x1AVX512, gemm11x2AVX512}, {gemm12x1AVX512, gemm12x2AVX512},
	},
	copy:     copyPanelAVX512,
	copyMany: [2]func(*float32, uintptr, uintptr, *float32, uintptr, uintptr, int, int){copyPanels1AVX512, copyPanels2AVX512},
}

var avx512Convolve = convolveSet{lanes: 16, narrow: avx2Convolve.convolve}
