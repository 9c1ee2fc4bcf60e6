package scores

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"konkanitrain/data/text"
)

// Letters, marks and conjuncts are cut as Unicode's annex 29 says, GB9c included; spaces stay alone.
func TestClusters(t *testing.T) {
	for in, want := range map[string]string{
		"म्हजें नांव":      "म्ह|जें| |नां|व",
		"क्ष ज्ञान":        "क्ष| |ज्ञा|न",
		"त्त्व":            "त्त्व",
		"क़्त":             "क़्त",
		"कि्त":             "कि्|त",      // a vowel sign ends what can be linked
		"क्\u200cष":        "क्\u200c|ष", // a non-joiner keeps them apart
		"क्\u200dष":        "क्\u200dष",  // a joiner doesn't
		"अ्क":              "अ्|क",       // no consonant in front
		"क् ष":             "क्| |ष",     // nor across a space
		"  a\u0301bc \t d": "a\u0301|b|c| |d",
		"ಕ್ಷ":              "ಕ್|ಷ", // Kannada is none of GB9c's scripts
		"👩‍👩‍👧e":           "👩‍👩‍👧|e",
		"a ्का":            "a| |्|का", // a word that starts with a mark
		"":                 "",
		"\xffa":            "\xff|a",
	} {
		if got := strings.Join(Clusters(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// randomText is some words of few letters, so that many alignments are equally cheap.
func randomText(rng *rand.Rand, words int) string {
	var b strings.Builder
	for range rng.Intn(words + 1) {
		for range 1 + rng.Intn(3) {
			b.WriteString([]string{"क", "ा", "ष", "्", "b"}[rng.Intn(5)])
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// tally counts an alignment, which must be one of the two texts.
func tallied(t *testing.T, pairs []Pair, ref, hyp []string) text.Counts {
	t.Helper()
	var c Confusions
	c.Add(pairs)
	var r, h []string
	for _, p := range pairs {
		if p.Ref != "" {
			r = append(r, p.Ref)
		}
		if p.Hyp != "" {
			h = append(h, p.Hyp)
		}
		if p == (Pair{}) {
			t.Error("a pair of nothing")
		}
	}
	if !slices.Equal(r, ref) || !slices.Equal(h, hyp) {
		t.Errorf("an alignment of %q and %q, want %q and %q", r, h, ref, hyp)
	}
	return c.edits
}

// An alignment of words has just the edits that the word error rate counts, kind by kind.
func TestAlignmentsAreWhatIsCounted(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 2000 {
		ref, hyp := randomText(rng, 8), randomText(rng, 8)
		r, h := strings.Fields(ref), strings.Fields(hyp)
		if got, want := tallied(t, AlignWords(ref, hyp), r, h), text.Align(r, h); got != want {
			t.Fatalf("%q and %q: %v, want %v", ref, hyp, got, want)
		}
	}
}

// cheapest is the cost of an alignment in which spaces go with spaces alone, by trying all.
func cheapest(ref, hyp []string) int {
	if len(ref) == 0 || len(hyp) == 0 {
		return len(ref) + len(hyp)
	}
	best := min(cheapest(ref[1:], hyp), cheapest(ref, hyp[1:])) + 1
	if same := ref[0] == hyp[0]; same || ref[0] != " " && hyp[0] != " " {
		cost := 1
		if same {
			cost = 0
		}
		best = min(best, cost+cheapest(ref[1:], hyp[1:]))
	}
	return best
}

// No alignment of clusters is cheaper, none puts a letter against a space, and cutting a large table in parts costs
// nothing.
func TestClusterAlignmentsAreCheapest(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	spaced := 0
	for range 300 {
		ref, hyp := Clusters(randomText(rng, 3)), Clusters(randomText(rng, 3))
		if len(ref) > 7 || len(hyp) > 7 {
			continue
		}
		pairs := AlignClusters(strings.Join(ref, ""), strings.Join(hyp, ""))
		if got, want := tallied(t, pairs, ref, hyp).Errors(), cheapest(ref, hyp); got != want {
			t.Fatalf("%q and %q: %d edits, want %d", ref, hyp, got, want)
		}
		for _, p := range pairs {
			if p.Edit() == Substituted && (p.Ref == " " || p.Hyp == " ") {
				t.Errorf("%q and %q: a space against a letter", ref, hyp)
			}
			if p.Edit() == Deleted && p.Ref == " " {
				spaced++
			}
		}
	}
	if spaced == 0 {
		t.Error("no space was ever without one: this test says little")
	}
}

func TestLargeAlignmentsAreCutInParts(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	tokens := func() (list []token) {
		for range rng.Intn(40) {
			n := int32(rng.Intn(4))
			list = append(list, token{n, n == 0})
		}
		return list
	}
	cost := func(edits []Edit) (n int) {
		for _, e := range edits {
			if e != Same {
				n++
			}
		}
		return n
	}
	for range 500 {
		ref, hyp := tokens(), tokens()
		whole, parts := align(ref, hyp, cells), align(ref, hyp, 1+rng.Intn(30))
		if cost(parts) != cost(whole) {
			t.Fatalf("%v and %v: %d edits in parts, %d as a whole", ref, hyp, cost(parts), cost(whole))
		}
		r, h := 0, 0
		for _, e := range parts {
			if e != Inserted {
				r++
			}
			if e != Deleted {
				h++
			}
			if e == Same && ref[r-1] != hyp[h-1] {
				t.Fatalf("%v and %v: different ones are called the same", ref, hyp)
			}
		}
		if r != len(ref) || h != len(hyp) {
			t.Fatalf("%d and %d tokens, want %d and %d", r, h, len(ref), len(hyp))
		}
	}
}

// Lines have their columns below each other, stars where there is nothing, and end behind words.
func TestLay(t *testing.T) {
	rows := Lay(AlignClusters("म्हजें नांव कितें तें", "म्हजे नावकितें आनी"), 80)
	want := Rows{
		Ref:   "म्हजें नांव कितें *तें",
		Hyp:   "म्हजे नाव*कितें आनी",
		Marks: "  S S  D    IS",
	}
	if len(rows) != 1 || rows[0] != want {
		t.Errorf("%q, want %q", rows, want)
	}
	rng := rand.New(rand.NewSource(4))
	for range 500 {
		ref, hyp := randomText(rng, 9), randomText(rng, 9)
		pairs := AlignClusters(ref, hyp)
		for i, r := range Lay(pairs, 12) {
			w := max(Width(r.Ref), Width(r.Hyp))
			if w > 12 || Width(r.Marks) > w {
				t.Errorf("%q and %q: line %d has %d columns: %q", ref, hyp, i, w, r)
			}
		}
		whole := Lay(pairs, 1000)
		if len(whole) > 1 {
			t.Errorf("%q and %q: %d lines in 1000 columns", ref, hyp, len(whole))
		}
	}
	if got := Lay(AlignClusters("aa bb cc", "aa bb cc"), 6); len(got) != 2 || got[0].Ref != "aa bb" || got[1].Hyp != "cc" {
		t.Errorf("%q", got)
	}
	if got := Lay(AlignClusters("abcdefgh", ""), 3); len(got) != 3 || got[0] != (Rows{"abc", "***", "DDD"}) {
		t.Errorf("%q", got)
	}
	if got := Lay(nil, 80); got != nil {
		t.Errorf("%q of nothing", got)
	}
}

func FuzzAlign(f *testing.F) {
	f.Add("म्हजें नांव", "म्हजे नाव")
	f.Add("a\u0301 b", "\u0301 \x00\xff")
	f.Fuzz(func(t *testing.T, ref, hyp string) {
		if utf8.RuneCountInString(ref) > 300 || utf8.RuneCountInString(hyp) > 300 {
			return
		}
		pairs := AlignClusters(ref, hyp)
		tallied(t, pairs, Clusters(ref), Clusters(hyp))
		if got, want := strings.Join(Clusters(ref), ""), strings.Join(strings.Fields(ref), " "); got != want {
			t.Errorf("%q became %q", want, got)
		}
		Lay(pairs, 20)
	})
}
