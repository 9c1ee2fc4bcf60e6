package decode

import (
	"iter"
	"maps"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// ahead is a share of a language model of words with a lexicon of these, and what another word has there.
func ahead(t testing.TB, f *Fusion, unknown float64, words ...string) *Fusion {
	t.Helper()
	l, err := NewLexicon(func(yield func(string, float64) bool) {
		for _, w := range words {
			id, _ := f.Model.ID([]byte(w))
			nats, _ := f.Model.Score(f.Model.Begin(), id)
			if !yield(w, nats) {
				return
			}
		}
	}, unknown)
	if err != nil {
		t.Fatal(err)
	}
	g := *f
	g.Lexicon = l
	return &g
}

// Whatever a word begins with, cut anywhere, the lexicon has what a look at all words finds.
func TestLexiconAgainstAllWords(t *testing.T) {
	words := map[string]float64{"गोंय": -3, "गोंयांत": -7, "गो": -5, "a": -2, "ab": -1.5, "abc": -9, "b": -4, "ba": -2.5, "c": -400, "bb\xff": 1}
	l, err := NewLexicon(maps.All(words), -8)
	if err != nil {
		t.Fatal(err)
	}
	letters := []string{"a", "b", "c", "ग", "ो", "ं", "य", "\xff", "\xe0", "\xa4"}
	r := rng(5)
	found := 0
	for range 5000 {
		text, at := "", int32(0)
		for range 1 + r.IntN(5) {
			s := letters[r.IntN(len(letters))] + letters[r.IntN(len(letters))][:r.IntN(2)]
			text += s
			at = l.step(at, s)
		}
		want := math.Inf(-1)
		for w, nats := range words {
			if strings.HasPrefix(w, text) {
				want = max(want, bounded(nats))
			}
		}
		if math.IsInf(want, -1) {
			want = -8
		} else {
			found++
		}
		if got := l.best(at); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
	if found < 100 || l.lowest != impossible || l.Bytes() < 12*24 {
		t.Errorf("%d begins were found, the lowest is %v, %d bytes", found, l.lowest, l.Bytes())
	}
}

func TestNewLexicon(t *testing.T) {
	for want, words := range map[string]iter.Seq2[string, float64]{
		"there are no words":                   maps.All(map[string]float64{}),
		`"" has a log-probability of -1`:       maps.All(map[string]float64{"": -1}),
		`"a" has a log-probability of NaN: wa`: maps.All(map[string]float64{"a": math.NaN()}),
	} {
		_, err := NewLexicon(words, -1)
		testkit.MustFail(t, err, "lexicon: ", want)
	}
}

// A narrow beam finds better hypotheses if it looks ahead: by what they have in the end, which is the same measure.
// What is said are words of a model that makes each of them cost 6 nats, and any other 30.
func TestLookingAheadHelps(t *testing.T) {
	v, r := letters(t, 5), rng(2)
	f := &Fusion{Model: six{}, Weight: 1}
	o := BeamOptions{Width: 8, Words: ahead(t, f, -30, strings.Fields(known)...)}
	with, without := mustBeam(t, v, o), mustBeam(t, v, BeamOptions{Width: 8, Words: f})
	better, worse := 0, 0
	for range 100 {
		var logits []float32
		for range 6 {
			word := strings.Fields(known)[r.IntN(8)]
			for _, c := range " " + word {
				id := max(1, 2+c-'a')
				for _, said := range []int32{id, 0} { // and a blank behind it
					row := make([]float32, 5)
					for i := range row {
						row[i] = 2 * float32(r.NormFloat64())
					}
					row[said] += 4
					logits = append(logits, row...)
				}
			}
		}
		var frames Frames
		frames.Set(logits, 5)
		if a, b := with.Decode(frames, 1)[0].Score, without.Decode(frames, 1)[0].Score; a > b+roundoff {
			better++
		} else if a < b-roundoff {
			worse++
		}
	}
	if better < 5*worse || better < 50 {
		t.Errorf("better %d times, worse %d times", better, worse)
	}
}

const known = " a ab abc b bca c ca cab "

// six is that model.
type six struct{}

func (six) ID(unit []byte) (int32, bool) {
	if strings.Contains(known, " "+string(unit)+" ") {
		return 6, true
	}
	return 30, false
}
func (six) Begin() State                             { return 0 }
func (six) Score(_ State, id int32) (float64, State) { return -float64(id), 0 }
func (six) End(State) float64                        { return 0 }
