package simd

func avx2Tier() *kernels {
	return &kernels{
		name: "avx2",
		gemm: avx2Tiles.gemm,
		exp:  expAVX2, swish: swishAVX2, relu: reluAVX2,
		swishGrad: swishGradAVX2, reluGrad: reluGradAVX2,
		glu: gluAVX2, gluGrad: gluGradAVX2,
		add: addAVX2, mulAdd: mulAddAVX2,
		addScaled: addScaledAVX2, scale: scaleAVX2, axpy: axpyAVX2, approach: approachAVX2,
		sum: sumAVX2, max: maxAVX2, sumSquares: sumSquaresAVX2,
		softmax: avx2Rows.softmax, logSoftmax: avx2Rows.logSoftmax, softmaxGrad: avx2Rows.softmaxGrad,
		layerNorm: avx2Rows.layerNorm, layerNormGrad: avx2Rows.layerNormGrad,
		setRows: setRowsAVX2, columnSum: columnSumAVX2,
		dropout: dropWith(dropoutAVX2), addDropout: addDropWith(addDropoutAVX2),
		swishDropout: dropWith(swishDropoutAVX2), swishDropoutGrad: dropGradWith(swishDropoutGradAVX2),
		convolve: avx2Convolve.convolve,
		toHalf:   toHalfWith(8, toHalfAVX2), fromHalf: fromHalfWith(8, fromHalfAVX2),
		adamW: adamWWith(adamWAVX2),
	}
}

var avx2Rows = rowSteps{
	max: maxAVX2, expSum: expSumAVX2, sumExp: sumExpAVX2, scale: scaleAVX2, shift: shiftAVX2,
	dot: dotShortAVX2, mulShifted: mulShiftedAVX2,
	sum: sumShortAVX2, deviation: deviationAVX2, normalize: normalizeAVX2,
	normGradSums: normGradSumsAVX2, normGradInput: normGradInputAVX2,
}

var avx2Tiles = tileSet{
	lanes: 8,
	kernels: [][2]tileKernel{
		{gemm1x1AVX2, gemm1x2AVX2}, {gemm2x1AVX2, gemm2x2AVX2}, {gemm3x1AVX2, gemm3x2AVX2},
		{gemm4x1AVX2, gemm4x2AVX2}, {gemm5x1AVX2, gemm5x2AVX2}, {gemm6x1AVX2, gemm6x2AVX2},
	},
	copy:     copyPanelAVX2,
	copyMany: [2]func(*float32, uintptr, uintptr, *float32, uintptr, uintptr, int, int){copyPanels1AVX2, copyPanels2AVX2},
}

var avx2Convolve = convolveSet{lanes: 8, narrow: convolvePlain}
