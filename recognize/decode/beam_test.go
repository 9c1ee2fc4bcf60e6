package decode

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// searches are the ways to search that a vocabulary is tried with.
func searches(t *testing.T, v *Vocabulary, seed uint64, list []Hotword) map[string]BeamOptions {
	t.Helper()
	hot, err := NewHotwords(v, list)
	if err != nil {
		t.Fatal(err)
	}
	words := &Fusion{Model: chance{seed}, Weight: 0.7, Bonus: 0.4, Unknown: -1.5}
	tokens := &Fusion{Model: chance{seed + 1}, Weight: 0.4, Bonus: 0.6, Unknown: -0.7}
	return map[string]BeamOptions{
		"ctc":        {},
		"words":      {Words: words},
		"tokens":     {Tokens: tokens},
		"characters": {Tokens: tokens, Characters: true},
		"hotwords":   {Hotwords: hot},
		"all":        {Words: words, Tokens: tokens, Characters: true, Hotwords: hot},
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
			slow.gain = math.Inf(1)
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

// What is found depends on the frames alone, not on what the decoder had before; a hypothesis is the decoder's until
// the next call, and its clone stays.
func TestDecodersForget(t *testing.T) {
	v := letters(t, 6)
	hot, err := NewHotwords(v, []Hotword{{Phrase: "ab", Boost: 1}})
	if err != nil {
		t.Fatal(err)
	}
	o := BeamOptions{Width: 7, TopTokens: 4, Words: &Fusion{Model: chance{1}, Weight: 1}, Hotwords: hot}
	for name, make := range map[string]func() Decoder{
		"beam":   func() Decoder { return mustBeam(t, v, o) },
		"greedy": func() Decoder { return NewGreedy(0) },
	} {
		used := make()
		var clones, fresh [][]Hypothesis
		for seed := range uint64(10) {
			f := peaky(rng(seed), int(10+7*(seed%4)), 6)
			var c []Hypothesis
			for _, h := range used.Decode(f, 3) {
				c = append(c, h.Clone())
			}
			clones, fresh = append(clones, c), append(fresh, make().Decode(f, 3))
		}
		for i := range clones {
			equal(t, fmt.Sprintf("%s, utterance %d", name, i), clones[i], fresh[i])
		}
	}
}

// Equal scores have the order of the ids; of equal prefixes those of the best are kept, by the order of the tokens.
func TestTies(t *testing.T) {
	v := letters(t, 200)
	var f Frames
	f.Set(make([]float32, 200), 200)
	got := mustBeam(t, v, BeamOptions{Width: 100}).Decode(f, 100)
	for i := range 100 {
		if want := []int32{int32(i)}[:min(i, 1)]; len(got) != 100 || !slices.Equal(got[i].Tokens, want) {
			t.Fatalf("hypothesis %d of %d is %+v, want %v", i, len(got), got[i], want)
		}
	}
	half, no := float32(-0.5), float32(math.Inf(-1)) // all that is possible is as likely
	f = Frames{LogProbs: []float32{half, no, half, half, half, no}, V: 3}
	got = mustBeam(t, letters(t, 3), BeamOptions{Width: 4}).Decode(f, 4)
	for i, want := range [][]int32{{}, {1}, {2}, {2, 1}} {
		if len(got) != 4 || !slices.Equal(got[i].Tokens, want) {
			t.Fatalf("%+v", got)
		}
	}
	f.Set(make([]float32, 8*20), 8)
	first := mustBeam(t, v, BeamOptions{Width: 16, TopTokens: 3}).Decode(f, 16)
	for range 5 {
		equal(t, "again", mustBeam(t, v, BeamOptions{Width: 16, TopTokens: 3}).Decode(f, 16), first)
	}
}

// Only so many tokens make prefixes longer, and the likeliest always does.
func TestPruning(t *testing.T) {
	v := letters(t, 6)
	var f Frames
	f.Set([]float32{0, 1, 2, 3, 2.5, -1}, 6)
	for _, c := range []struct {
		top    int
		margin float64
		want   int
	}{{0, 0, 5}, {1, 0, 1}, {3, 0, 3}, {9, 0, 5}, {0, 0.6, 2}, {0, 1e-9, 1}, {1, 0.6, 1}, {0, 100, 5}} {
		got := mustBeam(t, v, BeamOptions{Width: 100, TopTokens: c.top, Margin: c.margin}).Decode(f, 100)
		if len(got) != c.want+1 || got[0].Tokens[0] != 3 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A broken network's frames, and none, give hypotheses with numbers in them.
func TestOddFrames(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	v := letters(t, 3)
	hot, err := NewHotwords(v, []Hotword{{Phrase: "a", Boost: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, logits := range map[string][]float32{
		"none": {}, "nan": {nan, nan, nan, nan, nan, nan}, "some nan": {nan, 1, 2, 0, nan, 1},
		"inf": {inf, inf, 0, -inf, inf, nan}, "-inf": {-inf, -inf, -inf, -inf, 0, -inf}, "huge": {3e38, -3e38, 0, 0, 3e38, 3e38},
	} {
		var f Frames
		f.Set(logits, 3)
		for at := 0; at < len(logits); at += 3 {
			sum := 0.0
			for _, x := range f.LogProbs[at : at+3] {
				sum += math.Exp(float64(x))
			}
			if math.Abs(sum-1) > 1e-6 { // of float32
				t.Errorf("%s: a row adds up to %v", name, sum)
			}
		}
		for _, d := range []Decoder{NewGreedy(0), mustBeam(t, v, BeamOptions{Width: 3}), mustBeam(t, v, BeamOptions{Width: 3, Hotwords: hot, Margin: 3})} {
			for _, max := range []int{-1, 0, 1, 9} {
				got := d.Decode(f, max)
				if len(got) == 0 || !finite(got[0].Score) || !finite(got[0].CTC) {
					t.Errorf("%s, %T: %+v", name, d, got)
				}
			}
		}
	}
	// Frames that are no probabilities are no reason to fail either.
	for _, d := range []Decoder{NewGreedy(0), mustBeam(t, v, BeamOptions{Width: 3})} {
		for _, f := range []Frames{{}, {LogProbs: []float32{-inf, -inf, -inf, nan, nan, nan}, V: 3}, {LogProbs: make([]float32, 14), V: 7}, {LogProbs: make([]float32, 3), V: 1}} {
			if len(d.Decode(f, 2)) == 0 {
				t.Errorf("%T: no hypothesis", d)
			}
		}
	}
}

// certain is a model that has impossible and senseless log-probabilities.
type certain struct{ nats float64 }

func (certain) ID([]byte) (int32, bool)               { return 0, true }
func (certain) Begin() State                          { return 0 }
func (c certain) Score(State, int32) (float64, State) { return c.nats, 0 }
func (c certain) End(State) float64                   { return c.nats }

func TestOddModels(t *testing.T) {
	v := letters(t, 3)
	f := random(rng(1), 12, 3, 1)
	for _, nats := range []float64{math.Inf(-1), math.NaN(), -1e300, math.Inf(1), 5} {
		m := &Fusion{Model: certain{nats}, Weight: 1}
		for _, h := range mustBeam(t, v, BeamOptions{Width: 4, Words: m, Tokens: m}).Decode(f, 4) {
			if !finite(h.Score) || h.Score > h.CTC {
				t.Errorf("%v: %+v", nats, h)
			}
		}
	}
}

func TestBeamOptions(t *testing.T) {
	v := letters(t, 3)
	m := chance{}
	nan := math.NaN()
	for want, o := range map[string]BeamOptions{
		"a beam of 0: want 1 to 65536 prefixes":                     {},
		"a beam of 70000":                                           {Width: 70000},
		"-1 tokens of each frame":                                   {Width: 1, TopTokens: -1},
		"a margin of NaN nats":                                      {Width: 1, Margin: nan},
		"a margin of -1 nats":                                       {Width: 1, Margin: -1},
		"words: there is a weight, and no model":                    {Width: 1, Words: &Fusion{Weight: 1}},
		"words: the weight is -1":                                   {Width: 1, Words: &Fusion{Model: m, Weight: -1}},
		"tokens: weight 1, bonus NaN":                               {Width: 1, Tokens: &Fusion{Model: m, Weight: 1, Bonus: nan}},
		"tokens: -3 for what the model doesn't know has no effect":  {Width: 1, Tokens: &Fusion{Model: m, Unknown: -3}},
		"characters are asked for, and there is no language model":  {Width: 1, Characters: true},
		"beam search: the language model of words: weight +Inf, bo": {Width: 1, Words: &Fusion{Model: m, Weight: math.Inf(1)}},
	} {
		_, err := NewBeam(v, o)
		testkit.MustFail(t, err, "beam search: ", want)
	}
	for _, blank := range []int32{-1, 3} {
		_, err := NewVocabulary([]string{"a", "b", "c"}, blank)
		testkit.MustFail(t, err, "there are 3 tokens")
	}
}

// A bonus needs no model, and is for what it counts.
func TestBonusAlone(t *testing.T) {
	v := letters(t, 4)
	f := random(rng(4), 6, 4, 1)
	for _, h := range mustBeam(t, v, BeamOptions{Width: 4096, Words: &Fusion{Bonus: 2}, Tokens: &Fusion{Bonus: 0.25}}).Decode(f, 50) {
		_, words := written(v, h.Tokens)
		if want := h.CTC + 2*float64(len(words)) + 0.25*float64(len(h.Tokens)); !near(h.Score, want) || h.Words.Units != len(words) {
			t.Errorf("%+v, want a score of %v", h, want)
		}
	}
}

// Once its scratch has grown a decoder allocates nothing, and what it holds is what it says.
func TestDecodingAllocatesNothing(t *testing.T) {
	v := letters(t, 30)
	hot, err := NewHotwords(v, []Hotword{{Phrase: "abba", Boost: 1}, {Phrase: "ab ba", Boost: 1}})
	if err != nil {
		t.Fatal(err)
	}
	f := peaky(rng(2), 200, 30)
	align := NewAligner(0)
	tokens := slices.Clone(NewGreedy(0).Decode(f, 1)[0].Tokens)
	for name, run := range map[string]func(){
		"greedy":     func(d Decoder) func() { return func() { d.Decode(f, 1) } }(NewGreedy(0)),
		"beam":       func(d Decoder) func() { return func() { d.Decode(f, 4) } }(mustBeam(t, v, BeamOptions{Width: 8})),
		"everything": func(d Decoder) func() { return func() { d.Decode(f, 4) } }(mustBeam(t, v, BeamOptions{Width: 8, Words: &Fusion{Model: still{}, Weight: 1}, Tokens: &Fusion{Model: still{}, Weight: 1}, Hotwords: hot})),
		"align":      func() { _, _ = align.Align(f, tokens) },
		"logprob":    func() { align.LogProb(f, tokens) },
		"frames":     func() { f.Set(f.LogProbs, 30) },
	} {
		if n := testing.AllocsPerRun(5, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// still is a model that allocates nothing.
type still struct{}

func (still) ID(unit []byte) (int32, bool)                { return int32(len(unit)), len(unit) < 3 }
func (still) Begin() State                                { return 0 }
func (still) Score(from State, id int32) (float64, State) { return -float64(id), from + 1 }
func (still) End(from State) float64                      { return -0.5 }
