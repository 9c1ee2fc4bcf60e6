package scores

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text"
)

// wrong is an utterance with these errors of words and characters.
func wrong(id string, words, chars, ref int, loss float64) Utterance {
	return Utterance{ID: id, Words: text.Counts{Sub: words, Ref: ref}, Chars: text.Counts{Del: chars, Ref: ref}, Loss: &loss}
}

func ids(list []Utterance) string {
	var s []string
	for _, u := range list {
		s = append(s, u.ID)
	}
	return strings.Join(s, " ")
}

// The order is that of the documentation, one rule after the other.
func TestWorstOrder(t *testing.T) {
	w := NewWorst(10)
	endless := wrong("no-loss", 1, 5, 10, 0)
	endless.Loss = nil
	for _, u := range []Utterance{
		wrong("right", 0, 0, 10, 50), wrong("rate", 1, 3, 4, 1), wrong("a", 1, 5, 10, 1), wrong("words", 2, 5, 10, 1),
		wrong("loss", 1, 5, 10, 2), wrong("b", 1, 5, 10, 1), wrong("errors", 1, 10, 20, 1), endless, wrong("word", 1, 0, 10, 9),
	} {
		w.Add(u)
	}
	if got, want := ids(w.List()), "rate errors words no-loss loss a b word"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	none := NewWorst(0)
	none.Add(wrong("x", 1, 1, 1, 1))
	if list := none.List(); list == nil || len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// What is kept is the front of the whole list, however many are kept.
func TestWorstIsTheFrontOfAll(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var all []Utterance
	for i := range 300 {
		all = append(all, wrong(fmt.Sprint(i), rng.Intn(3), rng.Intn(6), 1+rng.Intn(6), float64(rng.Intn(3))))
	}
	whole := NewWorst(len(all))
	for _, u := range all {
		whole.Add(u)
	}
	want := whole.List()
	if !slices.IsSortedFunc(want, func(a, b Utterance) int { return cmp.Compare(b.Chars.Rate(), a.Chars.Rate()) }) || len(want) < 200 {
		t.Fatalf("%d of them, %s", len(want), ids(want))
	}
	for _, most := range []int{1, 2, 7, 100, 299} {
		w := NewWorst(most)
		for _, u := range all {
			w.Add(u)
		}
		if got := w.List(); ids(got) != ids(want[:min(most, len(want))]) {
			t.Errorf("of %d: %s, want %s", most, ids(got), ids(want[:min(most, len(want))]))
		}
	}
}

func TestHistogram(t *testing.T) {
	for _, c := range []struct{ errors, ref, bin int }{
		{0, 10, 0}, {0, 0, 0}, {1, 1000, 1}, {1, 10, 1}, {2, 19, 2}, {3, 10, 3}, {3, 30, 1}, {99, 100, 10}, {10, 10, 10}, {11, 10, 11}, {500, 10, 11}, {1, 0, 10}, {2, 0, 11},
	} {
		var h Histogram
		if h.Add(text.Counts{Ins: c.errors, Ref: c.ref}); h[c.bin] != 1 {
			t.Errorf("%d of %d: %v, want bin %d", c.errors, c.ref, h, c.bin)
		}
	}
}

// A summary counts everything and keeps a record small, however long the texts are.
func TestSummary(t *testing.T) {
	s := NewSummary(50)
	for i := range 40 {
		u := wrong(fmt.Sprint(i), 1, 5, 5+i, 1)
		u.Reference = strings.Repeat("ं", 1000) // 3 bytes each
		s.Add(u)
	}
	s.Add(wrong("right", 0, 0, 3, 1))
	s.Fail()
	v, err := s.Validation(7, "moving averages")
	if err != nil || v.Update != 7 || v.Weights != "moving averages" || v.Utterances != 41 || v.Wrong != 40 || v.Failed != 1 || v.Rates.Words[0] != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > most+1024 || len(v.Worst) < 15 || v.Worst[0].ID != "0" {
		t.Errorf("%d bytes, %d utterances, %v", len(b), len(v.Worst), err)
	}
}
