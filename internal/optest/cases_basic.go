package optest

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// someFrames are the lengths of short batches: a single frame, a few, and more than a vector.
var someFrames = []int{1, 5, 40}

// rowsOf says that utterance u's result has as many rows as lengths say.
func rowsOf(lengths []int) func(u int) int { return func(u int) int { return lengths[u] } }

const exactly = "moves and choices only, no arithmetic"

func linearCases() []Case {
	r := Rand(1)
	const why = "sums of up to 37 products in float32: a few units in the last place of the largest"
	batch := &Batch{
		In:   []Operand{Sequences(r, []int{1, 5, 37}, 24), All(Floats(r, 17, 24)), All(Floats(r, 17))},
		Rows: rowsOf([]int{1, 5, 37}), Extra: 6,
		Tol: testkit.Products(1e-6),
		Why: "the order of sums: our own kernels have one wherever a row lies, OpenBLAS's end a few roundings apart",
	}
	const halfWhy = "the bias, which is rounded to float16 before the product is added: by up to 2^-11 of it, and it is smaller than y"
	return []Case{
		{Name: "linear/bias", Build: BuildLinear, Tol: 2e-6, Why: why, HalfTol: 0x1p-11, HalfWhy: halfWhy,
			In: []op.Array{Floats(r, 5, 7), Floats(r, 3, 7), Floats(r, 3)}},
		{Name: "linear/batch of matrices", Build: BuildLinear, Tol: 2e-6, Why: why, HalfTol: 0x1p-11, HalfWhy: halfWhy,
			In: []op.Array{Floats(r, 2, 9, 37), Floats(r, 21, 37), Floats(r, 21)}},
		{Name: "linear/more rows and outputs than a block has", Build: BuildLinear, Tol: 3e-6, Why: "sums of up to 280 products in float32",
			HalfTol: 0x1p-11, HalfWhy: halfWhy, In: []op.Array{Floats(r, 2, 140, 3), Floats(r, 131, 3), Floats(r, 131)}},
		{Name: "linear/no bias", Build: BuildLinear, Tol: 2e-6, Why: why, In: []op.Array{Floats(r, 1, 1, 4), Floats(r, 6, 4)}},
		{Name: "linear/utterances", Build: BuildLinear, Batch: batch},
	}
}

// elementCases are about ops that work element by element, or move elements.
func elementCases() (cases []Case) {
	for _, shape := range [][]int{{3}, {2, 5, 61}} {
		cases = append(cases, Case{Name: fmt.Sprint("relu/", shape), Build: BuildRelu, Why: exactly, In: []op.Array{Floats(Rand(1), shape...)}})
	}
	cases = append(cases, Case{Name: "relu/utterances", Build: BuildRelu, Batch: &Batch{
		In: []Operand{Sequences(Rand(2), someFrames, 24)}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
	}})
	for _, shape := range [][]int{{1, 1, 1, 1}, {2, 3, 5, 7}, {1, 4, 20, 64}} {
		cases = append(cases, Case{
			Name: fmt.Sprint("channelmajor/", shape), Build: BuildChannelMajor, Why: exactly, In: []op.Array{Floats(Rand(1), shape...)},
		})
	}
	cases = append(cases, Case{Name: "channelmajor/utterances", Build: BuildChannelMajor, Batch: &Batch{
		In: []Operand{Sequences(Rand(2), someFrames, 3, 8)}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
	}})

	r := Rand(1)
	drop := op.Drop{P: 0.2, Site: 5}
	for i, in := range [][]op.Array{
		{Floats(r, 1, 3)},
		{Floats(r, 2, 5, 60)},
		{Floats(r, 3, 4, 50), Seeds(3)},
	} {
		cases = append(cases, Case{
			Name: fmt.Sprint("swish/", i), Build: BuildSwish(drop), In: in,
			Tol: 5e-7, Why: "an exponential, a division and a few products in float32",
		})
	}
	frames := Sequences(Rand(2), someFrames, 24)
	cases = append(cases,
		Case{Name: "swish/utterances with dropout", Build: BuildSwish(op.Drop{P: 0.1, Site: 1}), Batch: &Batch{
			In: []Operand{frames, SeedsEach(3)}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
		}},
		Case{Name: "swish/utterances", Build: BuildSwish(op.Drop{}), Batch: &Batch{
			In: []Operand{frames}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
		}},
	)

	for _, c := range []struct {
		name string
		in   []op.Array
	}{
		{"one frame", []op.Array{Floats(r, 1, 1, 2), Lengths(1)}},
		{"5 and 3 frames", []op.Array{Floats(r, 2, 5, 60), Lengths(17, 9)}},
		{"no frame, more than there are, 4", []op.Array{Floats(r, 3, 4, 26), Lengths(0, 1000, 13)}},
	} {
		cases = append(cases, Case{
			Name: "glu/" + c.name, Build: BuildGLU(4), In: c.in,
			Tol: 5e-7, Why: "an exponential, a division and a few products in float32",
		})
	}
	return append(cases,
		Case{Name: "glu/utterances", Build: BuildGLU(4), Batch: &Batch{
			In:   []Operand{Sequences(Rand(2), someFrames, 24), LengthsEach([]int{3, 20, 157}, 0)},
			Rows: rowsOf(someFrames), Extra: 7, Blind: true, Why: "equality",
		}},
		Case{Name: "glu/utterances subsampled by 2", Build: BuildGLU(2), Batch: &Batch{
			In:   []Operand{Sequences(Rand(3), []int{1, 4, 9}, 10), LengthsEach([]int{1, 8, 18}, 0)},
			Rows: rowsOf([]int{1, 4, 9}), Blind: true, Why: "equality",
		}},
	)
}

func dropoutCases() (cases []Case) {
	r := Rand(1)
	for _, in := range [][]op.Array{
		{Floats(r, 1, 3), Seeds(1)},
		{Floats(r, 2, 5, 60), Seeds(2)},
		{Floats(r, 3, 7, 3, 13), Seeds(3)},
	} {
		for _, p := range []float64{0.1, 0.5, 0.9} {
			cases = append(cases, Case{
				Name: fmt.Sprint("dropout/", in[0].Shape, " ", p), Build: BuildDropout(op.Drop{P: p, Site: 3}), In: in,
				Tol: 2e-7, Why: "the draws are integers and agree exactly; the scale is rounded once, the product once",
			})
		}
	}
	cases = append(cases, Case{Name: "dropout/utterances", Build: BuildDropout(op.Drop{P: 0.3, Site: 1}), Batch: &Batch{
		In: []Operand{Sequences(Rand(2), someFrames, 24), SeedsEach(3)}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
	}})

	const why = "three roundings, and where x and y cancel the largest value is what counts"
	drop := op.Drop{P: 0.2, Site: 5}
	for _, alpha := range []float32{1, 0.5} {
		cases = append(cases,
			Case{Name: fmt.Sprint("residual/", alpha), Build: BuildResidual(alpha, drop), Tol: 3e-7, Why: why, In: []op.Array{Floats(r, 2, 5, 60), Floats(r, 2, 5, 60)}},
			Case{Name: fmt.Sprint("residual/dropout ", alpha), Build: BuildResidual(alpha, drop), Tol: 3e-7, Why: why, In: []op.Array{Floats(r, 3, 4, 50), Floats(r, 3, 4, 50), Seeds(3)}},
		)
	}
	for i, d := range []op.Drop{{Branch: 0.4, Site: 5}, {P: 0.2, Branch: 0.4, Site: 5}} { // seeds of 6 utterances: some are dropped
		cases = append(cases, Case{
			Name: fmt.Sprint("residual/a branch dropped as a whole ", i), Build: BuildResidual(0.5, d), Tol: 4e-7, Why: "four roundings",
			In: []op.Array{Floats(r, 6, 4, 50), Floats(r, 6, 4, 50), Seeds(6)},
		})
	}
	twice := func(g *op.Graph, in []*G.Node) *G.Node { return g.Residual(in[0], 1, in[0], nil, op.Drop{}) }
	x, y := Sequences(Rand(2), someFrames, 24), Sequences(Rand(3), someFrames, 24)
	return append(cases,
		Case{Name: "residual/one node twice", Build: twice, Tol: 3e-7, Why: why, In: []op.Array{Floats(Rand(4), 2, 3)}},
		Case{Name: "residual/utterances with dropout", Build: BuildResidual(0.5, op.Drop{P: 0.1, Site: 1}), Batch: &Batch{
			In: []Operand{x, y, SeedsEach(3)}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
		}},
		Case{Name: "residual/utterances whose branch may be dropped", Build: BuildResidual(0.5, op.Drop{P: 0.1, Branch: 0.5, Site: 1}), Batch: &Batch{
			In: []Operand{x, y, SeedsEach(3)}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
		}},
		Case{Name: "residual/utterances", Build: BuildResidual(0.5, op.Drop{}), Batch: &Batch{
			In: []Operand{x, y}, Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
		}},
	)
}

func normCases() (cases []Case) {
	r := Rand(1)
	for _, shape := range [][]int{{5, 7}, {2, 9, 61}, {1, 1, 192}, {300, 16}, {2, 17, 260}} {
		d := shape[len(shape)-1]
		cases = append(cases, Case{
			Name: fmt.Sprint("layernorm/", shape), Build: BuildLayerNorm, In: []op.Array{Floats(r, shape...), Floats(r, d), Floats(r, d)},
			Tol: 2e-6, Why: "moments of up to 260 values, and sums over up to 300 rows, in float32",
		})
	}
	r = Rand(2)
	return append(cases, Case{Name: "layernorm/utterances", Build: BuildLayerNorm, Batch: &Batch{
		In:   []Operand{Sequences(r, someFrames, 24), All(Floats(r, 24)), All(Floats(r, 24))},
		Rows: rowsOf(someFrames), Extra: 7, Why: "equality",
	}})
}
