package decode

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

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
	if g := NewGreedy(0).Decode(Frames{LogProbs: []float32{-2, -1, -1, -2}, V: 4}, 1)[0]; !slices.Equal(g.Tokens, []int32{1}) {
		t.Errorf("%+v", g)
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

// The blank may have any id, and frames that lack it say nothing.
func TestBlankElsewhere(t *testing.T) {
	v, err := NewVocabulary([]string{"a", " ", "<blank>"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	b := mustBeam(t, v, BeamOptions{Width: 9})
	f := random(rng(1), 5, 3, 1)
	moved := Frames{LogProbs: make([]float32, len(f.LogProbs)), V: 3}
	for i, x := range f.LogProbs {
		moved.LogProbs[i/3*3+(i+2)%3] = x
	}
	got, want := b.Decode(moved, 9), mustBeam(t, letters(t, 3), BeamOptions{Width: 9}).Decode(f, 9)
	for i, w := range want {
		for k := range w.Tokens {
			w.Tokens[k]-- // 1 and 2 are 0 and 1 here
		}
		if !slices.Equal(got[i].Tokens, w.Tokens) || got[i].Score != w.Score {
			t.Errorf("hypothesis %d is %+v, want %+v", i, got[i], w)
		}
	}
	if got := b.Decode(Frames{LogProbs: make([]float32, 8), V: 2}, 1); len(got) != 1 || len(got[0].Tokens) != 0 {
		t.Errorf("%+v", got)
	}
}

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
