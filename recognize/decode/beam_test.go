package decode

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// searches are the ways to search that a vocabulary is tried with.
func searches(t *testing.T, v *Vocabulary, seed uint64, list []Hotword) map[string]BeamOptions {
	t.Helper()
	hot, err := NewHotwords(v, list)
	if err != nil {
		t.Fatal(err)
	}
	words := &Fusion{Model: chance{seed}, Weight: 0.7, Bonus: 0.4, Unknown: -1.5}
	eager := &Fusion{Model: chance{seed}, Weight: 0.7, Bonus: 0.1} // for new words
	tokens := &Fusion{Model: chance{seed + 1}, Weight: 0.4, Bonus: 0.6, Unknown: -0.7}
	decoder := &Fusion{Model: &strict{chance{seed + 2}, t, map[State]bool{}}, Weight: 0.8, Bonus: 0.2}
	return map[string]BeamOptions{
		"decoder":    {Decoder: decoder},
		"ctc":        {},
		"words":      {Words: words},
		"tokens":     {Tokens: tokens},
		"characters": {Tokens: tokens, Characters: true},
		"lexicon":    {Words: ahead(t, words, -30, "a", "ab", "abba", "b", "ba", "c", "गो")},
		"eager":      {Words: ahead(t, eager, -0.5, "ab", "abba", "ba")},
		"hotwords":   {Hotwords: hot},
		"all":        {Words: ahead(t, words, -30, "b", "bab"), Tokens: tokens, Characters: true, Hotwords: hot, Decoder: decoder},
	}
}

// vocabularies are of characters, of pieces with spaces in front, behind and within, and of bytes; with phrases.
var vocabularies = map[string]struct {
	texts []string
	words []Hotword
}{
	"characters": {[]string{"", " ", "a", "b"}, []Hotword{{Phrase: "a", Boost: 0.5}, {Phrase: "ab", Boost: 1}, {Phrase: "a b", Boost: 0.7}, {Phrase: "ba", Boost: 0.9, AnyEnding: true}}},
	"pieces":     {[]string{"", "▁a", "b", "▁"}, []Hotword{{Phrase: "ab", Boost: 1}, {Phrase: "a ab", Boost: 0.4}}},
	"behind":     {[]string{"", "a▁", "ab", "b"}, []Hotword{{Phrase: "aba", Boost: 1}, {Phrase: "b", Boost: 0.5, AnyEnding: true}}},
	"within":     {[]string{"", "a b c", "b", "▁▁c▁"}, []Hotword{{Phrase: "b", Boost: 1}, {Phrase: "c b", Boost: 0.3}}},
	"bytes":      {[]string{"", "\xe0", "\xa4", "\x97"}, []Hotword{{Phrase: "ग", Boost: 1}}},
	"silent":     {[]string{"", "", "a", " "}, []Hotword{{Phrase: "aa", Boost: 1}}},
}

// A beam that holds everything finds all labellings, each with its probability, in the right order.
func TestBeamIsExhaustive(t *testing.T) {
	for frames := range 7 {
		f := random(rng(uint64(100+frames)), frames, 4, 1.5)
		tokens, logProbs := labellings(f)
		for name, c := range vocabularies {
			v := vocabulary(t, c.texts...)
			for what, o := range searches(t, v, 11, c.words) {
				o.Width = 4096
				got, want := mustBeam(t, v, o).Decode(f, 1<<20), byScore(o, v, c.words, tokens, logProbs)
				if len(got) != len(want) {
					t.Fatalf("%s, %s, %d frames: %d hypotheses, there are %d", name, what, frames, len(got), len(want))
				}
				for i, w := range want {
					if g := got[i]; !same(g, w) {
						t.Fatalf("%s, %s, %d frames: hypothesis %d is %+v, want %+v", name, what, frames, i, g, w)
					}
				}
			}
		}
	}
}

func same(g, w Hypothesis) bool {
	return slices.Equal(g.Tokens, w.Tokens) && near(g.Score, w.Score) && near(g.CTC, w.CTC) && near(g.Hotwords, w.Hotwords) &&
		samePart(g.Words, w.Words) && samePart(g.Parts.Tokens, w.Parts.Tokens)
}

func samePart(g, w Part) bool {
	return near(g.LogProb, w.LogProb) && g.Units == w.Units && g.Unknown == w.Unknown
}

// Whatever the beam, what comes out is right about itself: a labelling's models and hotwords are those of its text, its
// probability is that of some of its paths, none is there twice, and the order is that of the scores.
func TestNarrowBeam(t *testing.T) {
	for name, c := range vocabularies {
		v := vocabulary(t, c.texts...)
		for what, o := range searches(t, v, 5, c.words) {
			for _, o.Width = range []int{1, 2, 7, 30} {
				for _, o.TopTokens = range []int{0, 2} {
					for _, o.Margin = range []float64{0, 1.5} {
						narrow(t, fmt.Sprintf("%s, %s, width %d, tokens %d, margin %v", name, what, o.Width, o.TopTokens, o.Margin), v, o, c.words)
					}
				}
			}
		}
	}
}

func narrow(t *testing.T, name string, v *Vocabulary, o BeamOptions, list []Hotword) {
	t.Helper()
	beam, exact := mustBeam(t, v, o), NewAligner(0)
	f := peaky(rng(uint64(o.Width)), 30, v.Size())
	got := beam.Decode(f, 1<<20)
	if len(got) == 0 || len(got) > o.Width {
		t.Fatalf("%s: %d hypotheses", name, len(got))
	}
	for i, g := range got {
		if !same(g, whole(o, v, list, g.Tokens, g.CTC)) {
			t.Fatalf("%s: hypothesis %d is %+v, its text makes %+v", name, i, g, whole(o, v, list, g.Tokens, g.CTC))
		}
		if p := exact.LogProb(f, g.Tokens); g.CTC > p+roundoff {
			t.Fatalf("%s: hypothesis %d has %v, all of its paths have %v", name, i, g.CTC, p)
		}
		for j, h := range got[:i] {
			if slices.Equal(g.Tokens, h.Tokens) || g.Score > h.Score {
				t.Fatalf("%s: hypotheses %d and %d: %+v, %+v", name, j, i, h, g)
			}
		}
	}
	if held := int64(len(beam.tree.nodes)); held > int64(o.Width)*31+1 {
		t.Fatalf("%s: %d nodes", name, held)
	}
	for i := range beam.tree.nodes { // the beam's prefixes and their begins, and no others
		if n := &beam.tree.nodes[i]; n.holds > 0 && n.child == nobody && n.entry == nobody {
			t.Fatalf("%s: node %d is held by nobody", name, i)
		}
	}
}

// A beam that prunes nothing is at least as good as the best path's labelling. With any beam and no models, what is
// found is no better than the best of all.
func TestBeamAndGreedy(t *testing.T) {
	v := letters(t, 4)
	wide, greedy, exact := mustBeam(t, v, BeamOptions{Width: 4096}), NewGreedy(0), NewAligner(0)
	better := 0
	for seed := range uint64(200) {
		f := random(rng(seed), 6, 4, 1)
		g := greedy.Decode(f, 1)[0]
		p := exact.LogProb(f, g.Tokens)
		if g.CTC > p+roundoff {
			t.Errorf("seed %d: the best path has %v, its labelling %v", seed, g.CTC, p)
		}
		b := wide.Decode(f, 1)[0]
		if b.CTC < p-roundoff {
			t.Errorf("seed %d: the beam's best has %v, the best path's labelling %v", seed, b.CTC, p)
		}
		if b.CTC > p+roundoff {
			better++
		}
		one := mustBeam(t, v, BeamOptions{Width: 1}).Decode(f, 1)[0]
		if q := exact.LogProb(f, one.Tokens); q > b.CTC+roundoff {
			t.Errorf("seed %d: a beam of 1 finds %v, the best is %v", seed, q, b.CTC)
		}
	}
	if better < 20 {
		t.Errorf("the beam was better %d times: this test says little", better)
	}
}

// Where each frame is certain, any beam and the best path agree.
func TestCertainFrames(t *testing.T) {
	v := letters(t, 5)
	r := rng(9)
	for range 50 {
		logits := make([]float32, 30*5)
		for t := range 30 {
			logits[t*5+r.IntN(5)] = 40
		}
		var f Frames
		f.Set(logits, 5)
		want := slices.Clone(NewGreedy(0).Decode(f, 1)[0].Tokens)
		for _, width := range []int{1, 2, 16} {
			if got := mustBeam(t, v, BeamOptions{Width: width}).Decode(f, 1)[0]; !slices.Equal(got.Tokens, want) || !near(got.CTC, 0) {
				t.Fatalf("width %d: %v with %v, want %v", width, got.Tokens, got.CTC, want)
			}
		}
	}
}

// That a search ends its look at a prefix when nothing can be gained any more changes no bit of what it finds.
func TestEarlyEnd(t *testing.T) {
	for name, c := range vocabularies {
		v := vocabulary(t, c.texts...)
		for what, o := range searches(t, v, 3, c.words) {
			o.Width = 5
			quick, slow := mustBeam(t, v, o), mustBeam(t, v, o)
			for id := range slow.gains {
				slow.gains[id] = math.Inf(1)
			}
			slow.most = math.Inf(1)
			for seed := range uint64(8) {
				f := random(rng(seed), 30, v.Size(), 2)
				equal(t, name+", "+what, quick.Decode(f, 9), slow.Decode(f, 9))
			}
		}
	}
}

// equal wants the same to the bit.
func equal(t *testing.T, name string, got, want []Hypothesis) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		g, w := got[i], want[i]
		ok = slices.Equal(g.Tokens, w.Tokens) && slices.Equal(g.Spans, w.Spans) && g.Score == w.Score && g.CTC == w.CTC && g.Parts == w.Parts
	}
	if !ok {
		t.Fatalf("%s: %+v, want %+v", name, got, want)
	}
}
