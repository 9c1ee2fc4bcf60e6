package model

import (
	"math"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/onnx"
)

// ONNX adds the network of recognition, encoder and CTC head, to b and gives the name of its logits [B, S, V]: the
// nodes are those of the graph that Build makes, op by op. features is the name of [B, T, F] float32, lengths that of
// [B] int64; B and T may be any. b has the parameters as weights, by their names.
func ONNX(c Config, b *onnx.Builder, features, lengths string) (logits string, err error) {
	return onnxOf(c, Shape{1, 1, 1}, b, features, lengths)
}

// onnxOf is ONNX by way of a graph for a shape, of which nothing is left.
func onnxOf(c Config, s Shape, b *onnx.Builder, features, lengths string) (string, error) {
	net, err := Build(c, s, Transcribing)
	if err != nil {
		return "", err
	}
	named := map[*G.Node]string{}
	for _, n := range net.Graph.Inputs() {
		switch n.Name() {
		case Features:
			named[n] = features
		case Lengths:
			named[n] = lengths
		case Positions:
			named[n] = onnxPositions(c, b, features)
		default:
			named[n] = n.Name()
		}
	}
	return net.Graph.ONNX(b, named, net.Logits)
}

// onnxPositions adds the table of relative positions [2S-1, d], op.RelativeTable, for as many frames as there are: a
// cosine is a sine that is a quarter of a turn ahead. Float64 keeps it exact however long the sound is.
func onnxPositions(c Config, b *onnx.Builder, features string) string {
	s := b.Subsampled(b.Size(features, 1), c.Subsampling)
	distances := b.Node("Range", []string{b.Node("Sub", []string{s, b.Int(1)}), b.Node("Neg", []string{s}), b.Int(-1)})
	r := b.Unsqueeze(b.Cast(distances, onnx.Double), 1)
	speed, ahead := make([]float64, c.DModel), make([]float64, c.DModel)
	for m := range c.DModel / 2 {
		speed[2*m] = math.Pow(10000, -2*float64(m)/float64(c.DModel))
		speed[2*m+1], ahead[2*m+1] = speed[2*m], math.Pi/2
	}
	row := []int64{1, int64(c.DModel)}
	angle := b.Node("Add", []string{b.Node("Mul", []string{r, b.Doubles(row, speed...)}), b.Doubles(row, ahead...)})
	return b.Cast(b.Node("Sin", []string{angle}), onnx.Float)
}
