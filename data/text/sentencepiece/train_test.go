package sentencepiece

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainBPE is the definition: all counts anew for each join.
func plainBPE(texts []string, joins int) (pieces []string) {
	var words [][]string
	for _, s := range texts {
		for w := range strings.FieldsSeq(s) {
			words = append(words, strings.Split(Space+w, ""))
		}
	}
	for len(pieces) < joins {
		counts := map[string]int{}
		for _, w := range words {
			for i := range len(w) - 1 {
				if s := w[i] + w[i+1]; utf8.RuneCountInString(s) <= longestPiece {
					counts[s]++
				}
			}
		}
		best := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)), cmp.Compare(a, b))
		})
		if len(best) == 0 || counts[best[0]] < 2 {
			return pieces
		}
		for i, w := range words {
			var out []string
			for j := 0; j < len(w); j++ {
				if j+1 < len(w) && w[j]+w[j+1] == best[0] {
					out = append(out, best[0])
					j++
				} else {
					out = append(out, w[j])
				}
			}
			words[i] = out
		}
		if !slices.Contains(pieces, best[0]) {
			pieces = append(pieces, best[0])
		}
	}
	return pieces
}

func TestTrainBPE(t *testing.T) {
	m, err := TrainBPE(slices.Values([]string{"ab abc", "abc ab", "xbc"}), 3+5+3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range m.Pieces {
		got = append(got, p.Text)
	}
	// ▁a and ab occur four times, and ▁a is the later one; then ▁ab.
	want := []string{"<unk>", "<s>", "</s>", "ab", "▁ab", "▁abc", "b", "▁", "a", "c", "x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Random texts of few letters, which overlap all the time, against the definition.
func TestTrainBPEAsDefined(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var texts []string
		for range 1 + draw.IntN(20) {
			var b strings.Builder
			for range draw.IntN(30) {
				b.WriteString([]string{"a", "a", "b", "c", "ा", " "}[draw.IntN(6)])
			}
			texts = append(texts, b.String())
		}
		all := strings.ReplaceAll(Space+strings.Join(texts, ""), " ", "")
		characters := map[rune]bool{}
		for _, r := range all {
			characters[r] = true
		}
		want := plainBPE(texts, 1+draw.IntN(40))
		size := 3 + len(want) + len(characters)
		m, err := TrainBPE(slices.Values(texts), size, 1)
		if len(characters) < 2 {
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", texts, err)
		}
		for i, p := range want {
			if m.Pieces[3+i].Text != p {
				t.Fatalf("%q: piece %d is %q, want %q", texts, i, m.Pieces[3+i].Text, p)
			}
		}
		slices.Reverse(texts)
		again, err := TrainBPE(slices.Values(texts), size, 1)
		if err != nil || !slices.Equal(again.Pieces, m.Pieces) {
			t.Fatalf("%q: in another order it is %v", texts, again)
		}
		back, err := Parse(m.File())
		if err != nil || !slices.Equal(back.Pieces, m.Pieces) || back.Algorithm != BPE {
			t.Fatalf("written and read: %v, %v", back, err)
		}
		for _, s := range texts {
			if got, want := back.Decode(ids(back.Encode(s))), strings.Join(strings.Fields(s), " "); got != want {
				t.Fatalf("%q comes back as %q", want, got)
			}
		}
	}
}

func TestTrainBPERefusals(t *testing.T) {
	texts := slices.Values([]string{"ab ab", "z"})
	for _, c := range []struct {
		size, minCount int
		want           string
	}{
		{6, 1, "6 pieces are too few: blank, sos/eos, unk and the 4 characters of the texts are 7"},
		{100, 1, "100 pieces are too many: the texts have no more than 9"},
		{100, 9, "no characters that occur 9 times"},
	} {
		if _, err := TrainBPE(texts, c.size, c.minCount); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	m, err := TrainBPE(texts, 8, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(ids(m.Encode("zab z"))); got != fmt.Sprint([]int{m.id(Space), m.unknown, m.id("ab"), m.id(Space), m.unknown}) {
		t.Errorf("rare characters: %v", got)
	}
}

func BenchmarkTrainBPE(b *testing.B) {
	draw := rand.New(rand.NewPCG(1, 2))
	var words []string
	for range 50000 {
		var w strings.Builder
		for range 2 + draw.IntN(12) {
			w.WriteRune('क' + rune(draw.ExpFloat64()*6))
		}
		words = append(words, w.String())
	}
	texts := func(yield func(string) bool) {
		for range 100000 {
			line := make([]string, 10)
			for i := range line {
				line[i] = words[min(int(draw.ExpFloat64()*8000), len(words)-1)]
			}
			if !yield(strings.Join(line, " ")) {
				return
			}
		}
	}
	for b.Loop() {
		if _, err := TrainBPE(texts, 500, 1); err != nil {
			b.Fatal(err)
		}
	}
}
