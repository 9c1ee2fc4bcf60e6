package optest

import (
	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// halved are lengths after one stage of subsampling.
func halved(lengths []int) func(u int) int { return func(u int) int { return (lengths[u] + 1) / 2 } }

func convolutionCases() (cases []Case) {
	r := Rand(1)
	for _, c := range []struct {
		name string
		in   []op.Array
	}{
		{"one element", []op.Array{Floats(r, 1, 1, 1), Floats(r, 1, 1), Floats(r, 1)}},
		{"5 taps", []op.Array{Floats(r, 2, 9, 21), Floats(r, 21, 5), Floats(r, 21)}},
		{"fewer frames than taps on a side", []op.Array{Floats(r, 2, 3, 16), Floats(r, 16, 31), Floats(r, 16)}},
		{"31 taps", []op.Array{Floats(r, 1, 70, 37), Floats(r, 37, 31), Floats(r, 37)}},
		{"more of all than a block has", []op.Array{Floats(r, 1, 290, 35), Floats(r, 35, 41), Floats(r, 35)}},
	} {
		cases = append(cases, Case{Name: "depthwise/" + c.name, Build: BuildDepthwise, In: c.in, Tol: 3e-6, Why: "sums of up to 290 products in float32"})
	}
	r = Rand(2)
	behindGLU := func(g *op.Graph, in []*G.Node) *G.Node { return g.Depthwise(g.GLU(in[0], in[1], 4), in[2], in[3]) }
	cases = append(cases, Case{Name: "depthwise/utterances behind the mask of GLU", Build: behindGLU, Batch: &Batch{
		In: []Operand{
			Sequences(r, someFrames, 48), LengthsEach([]int{3, 20, 157}, 0), All(Floats(r, 24, 15)), All(Floats(r, 24)),
		},
		Rows: rowsOf(someFrames), Extra: 7, Blind: true, Why: "equality",
	}})

	r = Rand(1)
	for _, c := range []struct {
		name string
		in   []op.Array
	}{
		{"one element", []op.Array{Floats(r, 1, 1, 1), Floats(r, 1, 1, 3, 3), Floats(r, 1), Lengths(1)}},
		{"shorter ones and none", []op.Array{Floats(r, 3, 9, 7), Floats(r, 5, 1, 3, 3), Floats(r, 5), Lengths(9, 4, 0)}},
		{"more frames than there are", []op.Array{Floats(r, 2, 10, 8), Floats(r, 16, 1, 3, 3), Floats(r, 16), Lengths(5, 1000)}},
		{"several runs of frames", []op.Array{Floats(r, 1, 41, 80), Floats(r, 8, 1, 3, 3), Floats(r, 8), Lengths(41)}},
		{"more frames and channels than a block has", []op.Array{Floats(r, 2, 71, 9), Floats(r, 35, 1, 3, 3), Floats(r, 35), Lengths(71, 66)}},
	} {
		cases = append(cases, Case{
			Name: "subsample.conv/" + c.name, Build: BuildSubsampleConv, In: c.in,
			Tol: 3e-6, Why: "nine products, and sums over up to 840 outputs, in float32",
		})
	}
	r = Rand(2)
	lengths := []int{1, 8, 43}
	cases = append(cases, Case{Name: "subsample.conv/utterances", Build: BuildSubsampleConv, Batch: &Batch{
		In:   []Operand{Sequences(r, lengths, 10), All(Floats(r, 12, 1, 3, 3)), All(Floats(r, 12)), LengthsEach(lengths, 0)},
		Rows: halved(lengths), Extra: 7, Blind: true, Why: "equality",
	}})

	r = Rand(1)
	for _, c := range []struct {
		name string
		in   []op.Array
	}{
		{"one element", []op.Array{Floats(r, 1, 1, 1, 1), Floats(r, 1, 1, 3, 3), Floats(r, 1), Lengths(1)}},
		{"shorter ones and none", []op.Array{Floats(r, 3, 9, 7, 5), Floats(r, 5, 1, 3, 3), Floats(r, 5), Lengths(17, 7, 0)}},
		{"more frames than there are", []op.Array{Floats(r, 2, 10, 8, 35), Floats(r, 35, 1, 3, 3), Floats(r, 35), Lengths(9, 1000)}},
		{"more frames than a block has", []op.Array{Floats(r, 2, 71, 3, 33), Floats(r, 33, 1, 3, 3), Floats(r, 33), Lengths(141, 130)}},
	} {
		cases = append(cases, Case{
			Name: "subsample.depthwise/" + c.name, Build: BuildSubsampleDepthwise(2), In: c.in,
			Tol: 3e-6, Why: "nine products, and sums over up to 144 outputs, in float32",
		})
	}
	r = Rand(2)
	lengths = []int{1, 8, 21}
	return append(cases, Case{Name: "subsample.depthwise/utterances", Build: BuildSubsampleDepthwise(2), Batch: &Batch{
		In: []Operand{
			Sequences(r, lengths, 6, 12), All(Floats(r, 12, 1, 3, 3)), All(Floats(r, 12)), LengthsEach([]int{1, 15, 42}, 0),
		},
		Rows: halved(lengths), Extra: 7, Blind: true, Why: "equality",
	}})
}
