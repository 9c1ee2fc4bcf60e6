package optest

import (
	"fmt"

	"konkanitrain/internal/frames"
	"konkanitrain/op"
)

// QueryTile is the number of queries that the CPU's attention takes at a time: some cases have more. Package op's tests
// hold it to the kernel.
const QueryTile = 48

// utteranceFrames are the lengths of an utterance batch, in feature frames: one frame, less than a window of the
// convolutions, around a multiple of the subsampling, and more than one tile of queries.
var utteranceFrames = []int{1, 5, 37, 80, 81, 200, 300}

func subsampled(lengths []int, factor int) (s []int) {
	for _, n := range lengths {
		s = append(s, frames.Subsampled(n, factor))
	}
	return s
}

const (
	attentionTol = 5e-6
	attentionWhy = "sums over keys in float32 of weights that sum to 1, scores a few units large"

	attentionHalfTol = 1.5e-3
	attentionHalfWhy = "q+u, the weights and the gradient of the scores are rounded to float16, each by up to 2^-11 of its value"
)

func attentionCases() (cases []Case) {
	r := Rand(31)
	drop := op.Drop{P: 0.3, Site: 5}
	for _, c := range []struct {
		name          string
		l, s          int
		queries, keys op.Array
		o             op.AttentionOptions
	}{
		{"one step", 1, 1, Lengths(1), Lengths(1), op.AttentionOptions{Heads: 2, Causal: true}},
		{"cross", 4, 7, Lengths(3, 0, 1), Lengths(7, 3, 1), op.AttentionOptions{Heads: 2, QueryExtra: 1}},
		{"causal", 6, 6, Lengths(6, 3), Lengths(6, 3), op.AttentionOptions{Heads: 1, Causal: true, Drop: drop}},
		{"causal tiles", 70, 70, Lengths(69, 12), Lengths(69, 12), op.AttentionOptions{Heads: 2, Causal: true, QueryExtra: 1, KeyExtra: 1, Drop: drop}},
		{"cross tiles", 67, 33, Lengths(66, 9), Lengths(131, 2), op.AttentionOptions{Heads: 3, QueryExtra: 1, KeyFactor: 4, Drop: drop}},
		{"a card's tiles", 260, 20, Lengths(259, 130), Lengths(20, 7), op.AttentionOptions{Heads: 2, QueryExtra: 1, Drop: drop}},
		{"a card's tiles, causal", 140, 140, Lengths(139, 127), Lengths(139, 127), op.AttentionOptions{Heads: 1, Causal: true, QueryExtra: 1, KeyExtra: 1}},
		{"causal, more keys than queries", 130, 150, Lengths(129, 20), Lengths(150, 140), op.AttentionOptions{Heads: 2, Causal: true, Drop: drop}},
		{"many keys", 3, 530, Lengths(2, 1), Lengths(520, 257), op.AttentionOptions{Heads: 1, QueryExtra: 1, Drop: drop}},
		{"no key at all", 5, 4, Lengths(5, 5), Lengths(0, 4), op.AttentionOptions{Heads: 2, Drop: drop}},
		{"absent, cross", 5, 4, Lengths(-1, 4, -1), Lengths(0, 4, 3), op.AttentionOptions{Heads: 2, QueryExtra: 1}},
		{"absent, causal", 5, 5, Lengths(3, -1), Lengths(3, -1), op.AttentionOptions{Heads: 2, Causal: true, QueryExtra: 1, KeyExtra: 1}},
	} {
		b := len(c.queries.Ints)
		in := []op.Array{Floats(r, b, c.l, 6), Floats(r, b, c.s, 6), Floats(r, b, c.s, 6), c.queries, c.keys}
		if c.o.Drop.P > 0 {
			in = append(in, Seeds(b))
		}
		cases = append(cases, attentionCase("attention/"+c.name, BuildAttention(c.o), in))
	}
	r = Rand(32)
	for _, c := range []struct {
		name    string
		s       int
		lengths op.Array
		o       op.RelativeOptions
	}{
		{"one frame", 1, Lengths(1), op.RelativeOptions{Heads: 2, Factor: 1}},
		{"two frames", 2, Lengths(2, 1), op.RelativeOptions{Heads: 3, Factor: 1, Drop: drop}},
		{"shorter ones and none", 7, Lengths(7, 4, 1, 0), op.RelativeOptions{Heads: 2, Factor: 1}},
		{"subsampled", 33, Lengths(131, 57, 5), op.RelativeOptions{Heads: 3, Factor: 4, Drop: drop}},
		{"a second tile of one query", QueryTile + 1, Lengths(2*QueryTile + 1), op.RelativeOptions{Heads: 2, Factor: 2, Drop: drop}},
		{"a card's tiles", 139, Lengths(139, 128, 20), op.RelativeOptions{Heads: 2, Factor: 1, Drop: drop}},
		{"two tiles", 70, Lengths(70, 20), op.RelativeOptions{Heads: 2, Factor: 1, Drop: drop}},
	} {
		b := len(c.lengths.Ints)
		in := []op.Array{
			Floats(r, b, c.s, 6), Floats(r, b, c.s, 6), Floats(r, b, c.s, 6), Floats(r, 2*c.s-1, 6),
			Floats(r, c.o.Heads, 6/c.o.Heads), Floats(r, c.o.Heads, 6/c.o.Heads), c.lengths,
		}
		if c.o.Drop.P > 0 {
			in = append(in, Seeds(b))
		}
		cases = append(cases, attentionCase("attention.relative/"+c.name, BuildRelative(c.o), in))
	}
	return append(append(cases, attentionBatches()...), relativeBatches()...)
}

func attentionCase(name string, build Build, in []op.Array) Case {
	return Case{
		Name: name, Build: build, In: in,
		Tol: attentionTol, Why: attentionWhy, HalfTol: attentionHalfTol, HalfWhy: attentionHalfWhy,
	}
}

func attentionBatches() (cases []Case) {
	r := Rand(33)
	tokens := []int{3, 0, 13, 70, 1, 20, 40}
	steps := make([]int, len(tokens))
	for u, n := range tokens {
		steps[u] = n + 1
	}
	encoded := subsampled(utteranceFrames, 4)
	for _, p := range []float64{0, 0.1} {
		drop := op.Drop{P: p, Site: 9}
		cross := []Operand{
			Sequences(r, steps, 16), Sequences(r, encoded, 16), Sequences(r, encoded, 16), LengthsEach(tokens, -1), LengthsEach(utteranceFrames, 0),
		}
		self := []Operand{
			Sequences(r, steps, 16), Sequences(r, steps, 16), Sequences(r, steps, 16), LengthsEach(tokens, -1), LengthsEach(tokens, -1),
		}
		if p > 0 {
			cross, self = append(cross, SeedsEach(len(steps))), append(self, SeedsEach(len(steps)))
		}
		cases = append(cases,
			Case{
				Name:  fmt.Sprint("attention/utterances, cross, dropout ", p),
				Build: BuildAttention(op.AttentionOptions{Heads: 4, QueryExtra: 1, KeyFactor: 4, Drop: drop}),
				Batch: &Batch{In: cross, Rows: rowsOf(steps), Extra: 9, Blind: true, Why: "equality"},
			},
			Case{
				Name:  fmt.Sprint("attention/utterances, causal, dropout ", p),
				Build: BuildAttention(op.AttentionOptions{Heads: 4, QueryExtra: 1, KeyExtra: 1, Causal: true, Drop: drop}),
				Batch: &Batch{In: self, Rows: rowsOf(steps), Extra: 9, Blind: true, Why: "equality"},
			},
		)
	}
	long := []int{140, 2, 128}
	self := []Operand{
		Sequences(r, long, 8), Sequences(r, long, 8), Sequences(r, long, 8), LengthsEach(long, -1), LengthsEach(long, -1), SeedsEach(3),
	}
	return append(cases, Case{
		Name:  "attention/utterances, a card's tiles",
		Build: BuildAttention(op.AttentionOptions{Heads: 2, Causal: true, Drop: op.Drop{P: 0.1, Site: 9}}),
		Batch: &Batch{In: self, Rows: rowsOf(long), Extra: 9, Blind: true, Why: "equality"},
	})
}

func relativeBatches() (cases []Case) {
	const longest, d = 160, 16
	r := Rand(34)
	for _, factor := range []int{1, 2, 4, 8} {
		s, lengths := subsampled(utteranceFrames, factor), utteranceFrames
		switch factor {
		case 1: // more than a tile of a card
			s = []int{130, 3, 128}
			lengths = s
		case 2: // the longest two have been met
			s, lengths = s[:5], lengths[:5]
		}
		for _, p := range []float64{0, 0.1} {
			in := []Operand{
				Sequences(r, s, d), Sequences(r, s, d), Sequences(r, s, d),
				Window(Floats(r, 2*longest-1, d), func(n int) (int, int) { return longest - n, 2*n - 1 }),
				All(Floats(r, 2, d/2)), All(Floats(r, 2, d/2)), LengthsEach(lengths, 0),
			}
			if p > 0 {
				in = append(in, SeedsEach(len(s)))
			}
			cases = append(cases, Case{
				Name:  fmt.Sprintf("attention.relative/utterances, factor %d, dropout %g", factor, p),
				Build: BuildRelative(op.RelativeOptions{Heads: 2, Factor: factor, Drop: op.Drop{P: p, Site: 3}}),
				Batch: &Batch{In: in, Rows: rowsOf(s), Extra: 9, Blind: true, Why: "equality"},
			})
		}
	}
	return cases
}
