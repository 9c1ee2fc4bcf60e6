package op

import "konkanitrain/internal/onnx"

// The convolutions have their channels last here, and second in ONNX.

func (s subsampleConv) onnx(b *onnx.Builder, in []string) string {
	x := b.Unsqueeze(b.Masked(in[0], in[3], s.factor, 3, b.Float(0)), 1)
	y := b.Node("Relu", []string{s.conv(b, x, in[1], in[2], 1)})
	return b.Transpose(y, 0, 2, 3, 1)
}

func (s subsampleDepthwise) onnx(b *onnx.Builder, in []string) string {
	x := b.Transpose(b.Masked(in[0], in[3], s.factor, 4, b.Float(0)), 0, 3, 1, 2)
	return b.Transpose(s.conv(b, x, in[1], in[2], s.c), 0, 2, 3, 1)
}

// conv is the convolution of x [B, C, T, F] in so many groups of channels.
func (s subsampling) conv(b *onnx.Builder, x, w, bias string, groups int) string {
	return b.Node("Conv", []string{x, w, bias}, onnx.Set("group", int64(groups)),
		onnx.Set("kernel_shape", []int64{3, 3}), onnx.Set("strides", []int64{2, 2}),
		onnx.Set("pads", []int64{1, 1, 1, 1}))
}

func (s depthwise) onnx(b *onnx.Builder, in []string) string {
	w := b.Unsqueeze(in[1], 1)
	k, p := int64(s.k), int64(s.k-1)/2
	y := b.Node("Conv", []string{b.Transpose(in[0], 0, 2, 1), w, in[2]}, onnx.Set("group", int64(s.d)),
		onnx.Set("kernel_shape", []int64{k}), onnx.Set("pads", []int64{p, p}))
	return b.Transpose(y, 0, 2, 1)
}
