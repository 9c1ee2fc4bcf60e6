package simd

// plainTier runs on any CPU. Row functions accumulate in float64 and round once: they are the specification.
func plainTier() *kernels {
	return &kernels{
		name: "go",
		gemm: gemmPlain,
		exp:  expPlain, swish: swishPlain, relu: reluPlain,
		swishGrad: swishGradPlain, reluGrad: reluGradPlain,
		glu: gluPlain, gluGrad: gluGradPlain,
		add: addPlain, mulAdd: mulAddPlain,
		addScaled: addScaledPlain, scale: scalePlain, axpy: axpyPlain, approach: approachPlain,
		sum: sumPlain, max: maxPlain, sumSquares: sumSquaresPlain,
		softmax: softmaxPlain, logSoftmax: logSoftmaxPlain, softmaxGrad: softmaxGradPlain,
		layerNorm: layerNormPlain, layerNormGrad: layerNormGradPlain,
		setRows: setRowsPlain, columnSum: columnSumPlain,
		dropout: dropoutPlain, addDropout: addDropoutPlain,
		swishDropout: swishDropoutPlain, swishDropoutGrad: swishDropoutGradPlain,
		convolve: convolvePlain,
		toHalf:   toHalfPlain, fromHalf: fromHalfPlain,
		adamW: adamWPlain,
	}
}
