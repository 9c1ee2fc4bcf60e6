package decode

import (
	"errors"
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// bestPaths are, for each labelling, its likeliest path and the sum over all, by trying every path.
func bestPaths(f Frames) map[string]struct {
	tokens, path []int32
	best, sum    float64
} {
	all := map[string]struct {
		tokens, path []int32
		best, sum    float64
	}{}
	paths(f, func(path []int32, p float64) {
		tokens := collapse(path)
		key := ""
		for _, id := range tokens {
			key += string(rune('0' + id))
		}
		b, there := all[key]
		if !there || p > b.best {
			b.tokens, b.path, b.best = tokens, slices.Clone(path), p
		}
		b.sum += math.Exp(p)
		all[key] = b
	})
	return all
}

// spansOf are the runs of a path that are tokens.
func spansOf(f Frames, path []int32) (spans []Span) {
	for t, id := range path {
		p := float64(f.Row(t)[id])
		switch {
		case id == 0:
		case t > 0 && path[t-1] == id:
			s := &spans[len(spans)-1]
			s.End++
			s.LogProb += p
		default:
			spans = append(spans, Span{int32(t), int32(t) + 1, p})
		}
	}
	return spans
}

// Every labelling of small utterances: the path, the sum, and an error for each that doesn't fit.
func TestAlignIsExhaustive(t *testing.T) {
	a := NewAligner(0)
	for frames := range 7 {
		for v := 2; v <= 4; v++ {
			f := random(rng(uint64(10*frames+v)), frames, v, 2)
			all := bestPaths(f)
			for _, b := range all {
				got, err := a.Align(f, b.tokens)
				if err != nil || !near(got.LogProb, b.best) || !sameSpans(got.Spans, spansOf(f, b.path)) {
					t.Fatalf("%d frames, tokens %v: %+v, %v; want the path %v with %v", frames, b.tokens, got, err, b.path, b.best)
				}
				if p := a.LogProb(f, b.tokens); !near(p, math.Log(b.sum)) {
					t.Fatalf("%d frames, tokens %v: %v, want %v", frames, b.tokens, p, math.Log(b.sum))
				}
			}
			refused := 0
			sequences(v, frames+1, func(tokens []int32, key string) {
				if _, there := all[key]; there {
					return
				}
				_, err := a.Align(f, tokens)
				var short *TooShortError
				if !errors.As(err, &short) || short.Tokens+short.Repeats <= frames || !math.IsInf(a.LogProb(f, tokens), -1) {
					t.Fatalf("%d frames, tokens %v: %v", frames, tokens, err)
				}
				refused++
			})
			if refused == 0 {
				t.Errorf("%d frames, %d tokens: nothing was refused", frames, v)
			}
		}
	}
}

// sequences calls f with each sequence of at most n of the tokens 1 to v-1.
func sequences(v, n int, f func(tokens []int32, key string)) {
	var from func(tokens []int32, key string)
	from = func(tokens []int32, key string) {
		f(tokens, key)
		for id := int32(1); id < int32(v) && len(tokens) < n; id++ {
			from(append(slices.Clone(tokens), id), key+string(rune('0'+id)))
		}
	}
	from(nil, "")
}

func sameSpans(got, want []Span) bool {
	return slices.EqualFunc(got, want, func(a, b Span) bool {
		return a.Start == b.Start && a.End == b.End && near(a.LogProb, b.LogProb)
	})
}

// The best path of all is that of its own labelling.
func TestAlignAgreesWithGreedy(t *testing.T) {
	g, a := NewGreedy(0), NewAligner(0)
	for seed := range uint64(20) {
		f := peaky(rng(seed), 150, 20)
		h := g.Decode(f, 1)[0]
		got, err := a.Align(f, h.Tokens)
		if err != nil || !near(got.LogProb, h.CTC) || !sameSpans(got.Spans, h.Spans) || len(h.Spans) < 10 {
			t.Fatalf("seed %d: %+v, %v; want %+v", seed, got, err, h)
		}
	}
}

func TestAlignRefuses(t *testing.T) {
	a := NewAligner(0)
	f := random(rng(1), 5, 4, 1)
	for want, tokens := range map[string][]int32{
		"6 tokens take 6 frames at least, one each and one between equal neighbors, and there are 5": {1, 2, 1, 2, 1, 2},
		"4 tokens take 6 frames":                        {1, 1, 2, 2},
		"token 2 of 3 has the id 4: want one of 4":      {1, 4, 2},
		"token 1 of 1 has the id -1":                    {-1},
		"the id 0: want one of 4, without the blank, 0": {1, 0},
	} {
		_, err := a.Align(f, tokens)
		testkit.MustFail(t, err, want)
	}
	if _, err := NewAligner(4).Align(f, []int32{1}); err == nil {
		t.Error("a blank that is no token")
	}
	if got, err := a.Align(Frames{V: 4}, nil); err != nil || len(got.Spans) != 0 || got.LogProb != 0 || a.LogProb(Frames{V: 4}, nil) != 0 {
		t.Errorf("nothing in nothing: %+v, %v", got, err)
	}
}

// A token that the network rules out has an alignment all the same, which says so.
func TestAlignTheImpossible(t *testing.T) {
	inf := float32(math.Inf(-1))
	f := Frames{V: 3, LogProbs: []float32{0, inf, inf, 0, inf, inf, inf, inf, 0, 0, inf, inf}}
	a := NewAligner(0)
	got, err := a.Align(f, []int32{1, 2})
	if err != nil || !math.IsInf(got.LogProb, -1) || len(got.Spans) != 2 || got.Spans[1].Start != 2 || got.Spans[1].LogProb != 0 || !math.IsInf(got.Spans[0].LogProb, -1) {
		t.Errorf("%+v, %v", got, err)
	}
	if p := a.LogProb(f, []int32{1, 2}); !math.IsInf(p, -1) {
		t.Errorf("its log-probability is %v", p)
	}
	if p := a.LogProb(f, []int32{2}); p != 0 {
		t.Errorf("what is certain has %v", p)
	}
}

// What decoders and aligners hold is at most what they say.
func TestBytes(t *testing.T) {
	f := peaky(rng(1), 300, 20)
	a := NewAligner(0)
	tokens := slices.Clone(NewGreedy(0).Decode(f, 1)[0].Tokens)
	if _, err := a.Align(f, tokens); err != nil {
		t.Fatal(err)
	}
	held := int64(8*cap(a.score) + cap(a.moves) + 16*cap(a.spans))
	if most := a.Bytes(300, len(tokens)); held > most || most > 2*held {
		t.Errorf("an aligner says %d bytes and holds %d", most, held)
	}
	b := mustBeam(t, letters(t, 20), BeamOptions{Width: 40})
	b.Decode(f, 40)
	if held, most := b.holds(), b.Bytes(300, 40); held > most {
		t.Errorf("a beam says %d bytes and holds %d", most, held)
	}
	g := NewGreedy(0)
	g.Decode(f, 1)
	if held, most := int64(4*cap(g.tokens)+16*cap(g.spans)), g.Bytes(300, 1); held > most {
		t.Errorf("greedy says %d bytes and holds %d", most, held)
	}
}
