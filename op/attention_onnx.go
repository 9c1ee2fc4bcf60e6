package op

import (
	"fmt"
	"math"

	"konkanitrain/internal/onnx"
)

// hidden is a score so low that its weight is 0, and finite, so that a row of nothing else gives no NaN.
const hidden = -1e30

// onnx is that of relative attention alone: a decoder isn't written.
func (a attention) onnx(b *onnx.Builder, in []string) string {
	if !a.relative {
		b.Fail(fmt.Errorf("%s can't be written as ONNX: relative attention can", a.name()))
		return ""
	}
	q, u, w, lengths := in[0], in[4], in[5], in[6]
	heads := b.Ints(0, 0, int64(a.heads), int64(a.dh()))
	split := func(x string) string { return b.Node("Reshape", []string{x, heads}) } // [B, S, h, dh]
	perHead := func(x string) string { return b.Transpose(x, 0, 2, 1, 3) }          // [B, h, S, dh] and back
	dot := func(x, y string) string { return b.Node("MatMul", []string{x, y}) }     // of the last two dimensions
	add := func(x, y string) string { return b.Node("Add", []string{x, y}) }        // with repeated dimensions
	where := func(mask, x string, other float32, dims ...int64) string {            // the mask gets these dimensions
		return b.Node("Where", []string{b.Unsqueeze(mask, dims...), x, b.Float(other)})
	}
	content := dot(perHead(add(split(q), u)), b.Transpose(split(in[1]), 0, 2, 3, 1))
	p := b.Transpose(b.Node("Reshape", []string{in[3], b.Ints(0, int64(a.heads), int64(a.dh()))}), 1, 2, 0)
	position := a.shift(b, dot(perHead(add(split(q), w)), p), q)
	scores := b.Node("Mul", []string{add(content, position), b.Float(a.scale())})
	own := b.OwnFrames(q, lengths, a.key.factor)
	weights := b.Node("Softmax", []string{where(own, scores, hidden, 1, 2)}, onnx.Set("axis", int64(-1)))
	y := perHead(dot(weights, perHead(split(in[2]))))
	y = b.Node("Reshape", []string{y, b.Ints(0, 0, int64(a.d))})
	return where(own, y, 0, 2)
}

// shift turns scores by distance, [B, h, S, 2S-1] whose column c is the distance S-1-c, into scores by key: result
// [i, j] is x[i, S-1-i+j]. A column of zeros in front makes rows of 2S. Read as rows of 2S-1 from element S on, each
// row begins one further to the left than the one before it (Dai et al. 2019, appendix B). q is [B, S, d].
func (a attentionShape) shift(b *onnx.Builder, x, q string) string {
	s := b.Unsqueeze(b.Size(q, 1), 0)
	shape := func(parts ...string) string {
		return b.Node("Concat", parts, onnx.Set("axis", int64(0)))
	}
	x = b.Node("Pad", []string{x, b.Ints(0, 0, 0, 1, 0, 0, 0, 0)})
	x = b.Node("Reshape", []string{x, shape(b.Ints(0, 0, -1), s)})
	x = b.Node("Slice", []string{x, b.Ints(1), b.Ints(math.MaxInt64), b.Ints(2)})
	x = b.Node("Reshape", []string{x, shape(b.Ints(0, 0), s, b.Ints(-1))})
	return b.Node("Slice", []string{x, b.Ints(0), s, b.Ints(3)})
}
