package optest

import (
	"fmt"

	"konkanitrain/op"
)

// positions is the table [n, d] of a decoder's positions.
func positions(n, d int) op.Array {
	return NewArray(op.Tensor{Data: op.Sinusoid(0, 1, n, d), Shape: []int{n, d}})
}

func embedCases() []Case {
	r := Rand(41)
	const why = "one product and one sum, each rounded; the gradient sums up to 6 rows"
	tokens := []op.Array{Ints([]int{1}, 7), Ints([]int{3}, 4, 4, 2), Ints([]int{5}, 2, 3, 4, 5, 6)}
	return []Case{
		{Name: "embed/tokens", Build: BuildEmbed, NoGradient: []int{2}, Tol: 5e-7, Why: why, In: []op.Array{
			Ints([]int{2, 5}, 3, 3, 2, 0, 0, 6, 1, 3, 4, 5), Floats(r, 7, 8), positions(6, 8),
		}},
		{Name: "embed/one token", Build: BuildEmbed, NoGradient: []int{2}, Tol: 5e-7, Why: why, In: []op.Array{
			Ints([]int{1, 1}, 2), Floats(r, 3, 2), positions(2, 2),
		}},
		{Name: "embed/a repeated token", Build: BuildEmbed, NoGradient: []int{2}, Tol: 5e-7, Why: why, In: []op.Array{
			Ints([]int{1, 3}, 2, 2, 4), Floats(Rand(43), 5, 4), positions(4, 4),
		}},
		{Name: "embed/utterances", Build: BuildEmbed, NoGradient: []int{2}, Batch: &Batch{
			In: []Operand{
				Growing(tokens...), All(Floats(Rand(42), 9, 6)),
				Window(positions(20, 6), func(n int) (int, int) { return 0, n + 1 }),
			},
			Rows: func(u int) int { return len(tokens[u].Ints) + 1 }, Extra: 4, Why: "equality",
		}},
	}
}

func lossCases() (cases []Case) {
	r := Rand(71)
	const ctcTol, ctcWhy = 1e-6, "a log-softmax in float32 (6e-8 of logits of a few units in each frame), the rest in float64"
	cases = append(cases,
		Case{Name: "ctc/targets, an empty one and one without an alignment", Build: BuildCTC(1, 0), Tol: ctcTol, Why: ctcWhy, In: []op.Array{
			Floats(r, 4, 9, 6), Lengths(9, 6, 4, 3),
			Ints([]int{4, 5}, 2, 2, 3, 5, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 0, 0), Lengths(5, 2, 0, 3),
		}},
		Case{Name: "ctc/subsampled", Build: BuildCTC(4, 0), Tol: ctcTol, Why: ctcWhy, In: []op.Array{
			Floats(r, 2, 7, 4), Lengths(25, 9), Ints([]int{2, 3}, 1, 2, 1, 3, 0, 0), Lengths(3, 1),
		}},
		Case{Name: "ctc/one frame", Build: BuildCTC(2, 0), Tol: ctcTol, Why: ctcWhy, In: []op.Array{
			Floats(r, 1, 1, 3), Lengths(1), Ints([]int{1, 1}, 2), Lengths(1),
		}},
		Case{Name: "ctc/an absent row", Build: BuildCTC(2, 0), Tol: ctcTol, Why: ctcWhy, In: []op.Array{
			Floats(r, 2, 4, 3), Lengths(0, 7), Ints([]int{2, 2}, 0, 0, 2, 1), Lengths(-1, 2),
		}},
		Case{Name: "ctc/smoothing, an empty target and one without an alignment", Build: BuildCTC(1, 0.25), Tol: ctcTol, Why: ctcWhy, In: []op.Array{
			Floats(r, 4, 9, 6), Lengths(9, 6, 4, 3),
			Ints([]int{4, 5}, 2, 2, 3, 5, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 0, 0), Lengths(5, 2, 0, 3),
		}},
		Case{Name: "ctc/smoothing, subsampled, an absent row and more classes than a warp has lanes", Build: BuildCTC(2, 0.1), Tol: ctcTol, Why: ctcWhy, In: []op.Array{
			Floats(r, 3, 40, 47), Lengths(0, 79, 31), Ints([]int{3, 4}, 0, 0, 0, 0, 2, 1, 40, 40, 46, 3, 0, 0), Lengths(-1, 4, 2),
		}},
		longCTC(),
	)
	lengths, counts := []int{1, 5, 37, 80, 81, 200}, []int{0, 3, 1, 8, 9, 13} // the second has no alignment with factors 4 and 8
	var targets []op.Array
	for u, n := range counts {
		targets = append(targets, Tokens(uint64(u), max(n, 1), 30))
	}
	for _, factor := range []int{2, 4, 8} {
		cases = append(cases, Case{Name: fmt.Sprint("ctc/utterances, factor ", factor), Build: BuildCTC(factor, 0), Batch: &Batch{
			In: []Operand{
				Sequences(Rand(74), subsampled(lengths, factor), 30), LengthsEach(lengths, 0), Growing(targets...), LengthsEach(counts, -1),
			},
			Extra: 5, Blind: true, Why: "equality",
		}})
	}

	cases = append(cases, Case{Name: "ctc/utterances, smoothing", Build: BuildCTC(4, 0.1), Batch: &Batch{
		In: []Operand{
			Sequences(Rand(74), subsampled(lengths, 4), 30), LengthsEach(lengths, 0), Growing(targets...), LengthsEach(counts, -1),
		},
		Extra: 5, Blind: true, Why: "equality",
	}})

	r = Rand(51)
	for _, e := range []float64{0, 0.1} {
		const why = "a float32 log-softmax of a few units, summed in float64"
		cases = append(cases,
			Case{Name: fmt.Sprint("crossentropy/smoothing ", e), Build: BuildCrossEntropy(e), Tol: 1e-6, Why: why, In: []op.Array{
				Floats(r, 3, 5, 7), Ints([]int{3, 4}, 3, 3, 2, 6, 5, 0, 0, 0, 0, 0, 0, 0), Lengths(4, 1, 0),
			}},
			Case{Name: fmt.Sprint("crossentropy/many classes, smoothing ", e), Build: BuildCrossEntropy(e), Tol: 1e-6, Why: why, In: []op.Array{
				Floats(r, 2, 9, 101), Ints([]int{2, 8}, 3, 3, 2, 100, 5, 64, 31, 32, 99, 7, 0, 0, 0, 0, 0, 0), Lengths(8, 2),
			}},
			Case{Name: fmt.Sprint("crossentropy/two classes, smoothing ", e), Build: BuildCrossEntropy(e), Tol: 1e-6, Why: why, In: []op.Array{
				Floats(r, 1, 2, 2), Ints([]int{1, 1}, 1), Lengths(1),
			}},
			Case{Name: fmt.Sprint("crossentropy/an absent row, smoothing ", e), Build: BuildCrossEntropy(e), Tol: 1e-6, Why: why, In: []op.Array{
				Floats(r, 2, 3, 4), Ints([]int{2, 2}, 0, 0, 3, 2), Lengths(-1, 2),
			}},
		)
	}
	var steps []int
	lengths, targets = []int{1, 3, 13, 80, 81}, nil
	for u, n := range lengths {
		steps = append(steps, n+1)
		targets = append(targets, Tokens(uint64(u), n, 20))
	}
	cases = append(cases, Case{Name: "crossentropy/utterances", Build: BuildCrossEntropy(0.1), Batch: &Batch{
		In: []Operand{Sequences(Rand(52), steps, 20), Growing(targets...), LengthsEach(lengths, -1)}, Extra: 4, Blind: true, Why: "equality",
	}})
	return append(cases, totalCases()...)
}

// longCTC has more states than a card's block has threads, more classes than a warp, and likelihoods far below what a
// float64 holds: e^-3143.
func longCTC() Case {
	logits, tokens := Floats(Rand(75), 1, 190, 70), Tokens(76, 150, 70)
	for i := range logits.Data {
		logits.Data[i] = float64(float32(10 * logits.Data[i]))
	}
	return Case{
		Name: "ctc/many states and small likelihoods", Build: BuildCTC(1, 0), Tol: 3e-5,
		Why: "a log-softmax in float32 of logits of some 40 (2e-6 in each of 190 frames), the rest in float64",
		In:  []op.Array{logits, Lengths(190), Ints([]int{1, 150}, tokens.Ints...), Lengths(150)},
	}
}

func totalCases() (cases []Case) {
	r := Rand(61)
	scale := Values(0.125)
	const why = "sums in float64, rounded once"
	for _, weight := range []float64{0.3, 0.5, 0, 1} { // equal weights give both losses one gradient node
		cases = append(cases, Case{
			Name: fmt.Sprint("total/weight ", weight), Build: BuildTotal(weight, 1-weight), NoGradient: []int{2},
			In: []op.Array{Floats(r, 5), Floats(r, 5), scale}, Tol: 1e-7, Why: why,
		})
	}
	return append(cases,
		Case{Name: "total/one loss", Build: BuildTotal(1), NoGradient: []int{1}, In: []op.Array{Floats(r, 1), scale}, Tol: 1e-7, Why: why},
		Case{
			Name: "total/three losses", Build: BuildTotal(0.2, 0.1, 0.7), NoGradient: []int{3},
			In: []op.Array{Floats(r, 37), Floats(r, 37), Floats(r, 37), scale}, Tol: 1e-7, Why: why,
		},
	)
}
