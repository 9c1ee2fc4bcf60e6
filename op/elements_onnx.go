package op

import "konkanitrain/internal/onnx"

// Ops that are a node or two.

func (relu) onnx(b *onnx.Builder, in []string) string { return b.Node("Relu", in) }

func (s swish) onnx(b *onnx.Builder, in []string) string {
	return b.Node("Mul", []string{in[0], b.Node("Sigmoid", in[:1])})
}

func (s residual) onnx(b *onnx.Builder, in []string) string {
	y := in[1]
	if s.alpha != 1 {
		y = b.Node("Mul", []string{y, b.Float(s.alpha)})
	}
	return b.Node("Add", []string{in[0], y})
}

func (s glu) onnx(b *onnx.Builder, in []string) string {
	halves := b.Nodes("Split", 2, in[:1], onnx.Set("axis", int64(2)))
	y := b.Node("Mul", []string{halves[0], b.Node("Sigmoid", halves[1:])})
	return b.Masked(y, in[1], s.factor, 3, b.Float(0))
}

func (s layerNorm) onnx(b *onnx.Builder, in []string) string {
	return b.Node("LayerNormalization", in, onnx.Set("axis", int64(-1)), onnx.Set("epsilon", float32(layerNormEps)))
}

// onnx: c and r are sizes of a frame; n, which is of the batch, isn't asked for.
func (s channelMajor) onnx(b *onnx.Builder, in []string) string {
	y := b.Transpose(in[0], 0, 1, 3, 2)
	return b.Node("Reshape", []string{y, b.Ints(0, 0, int64(s.r*s.c))})
}
