package op

import "konkanitrain/internal/onnx"

func (s linear) onnx(b *onnx.Builder, in []string) string {
	y := b.Node("MatMul", []string{in[0], b.Transposed(in[1])})
	if len(in) == 3 {
		y = b.Node("Add", []string{y, in[2]})
	}
	return y
}
