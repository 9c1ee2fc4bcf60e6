package recognize

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"konkanitrain/recognize/transcript"
)

// hypotheses are alternatives of falling scores.
func hypotheses(texts ...string) (list []transcript.Alternative) {
	for i, s := range texts {
		list = append(list, transcript.Alternative{Text: s, Score: 0 - float64(i)})
	}
	return list
}

// Hypotheses are cut where the text is: what differs stays with the segment that it is in.
func TestAlternativesAreCut(t *testing.T) {
	const text = "one two three four"
	s := transcript.Segment{Text: text, Alternatives: hypotheses(text, "one too three four", "one two three for", "on two four", "one to three for", "one twothree four")}
	before := func(before, _ string) string { return before }
	behind := func(_, behind string) string { return behind }
	for _, c := range []struct {
		at         int
		take       func(before, behind string) string
		text, want string
	}{
		{len("one two"), before, "one two", "one two/0 one too/-1 on two/-3 one to/-4"},
		{len("one two "), behind, "three four", "three four/0 three for/-2 four/-3"},
		{0, behind, text, "one two three four/0 one too three four/-1 one two three for/-2 on two four/-3 one to three for/-4 one twothree four/-5"},
		{len(text), behind, "", "/0"},
		{0, before, "", "/0"},
		{len("one two th"), func(b, _ string) string { return b + "ree" }, "one two three", "one two three/0 one too three/-1 on tworee/-3 one to three/-4 one twothree/-5"},
	} {
		var got []string
		for _, a := range cutAll(s, c.at, c.take, c.text) {
			got = append(got, fmt.Sprintf("%s/%g", a.Text, a.Score))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("at %d: %q, want %q", c.at, strings.Join(got, " "), c.want)
		}
	}
	both := together(transcript.Segment{Alternatives: hypotheses("a", "b", "c")}, transcript.Segment{Alternatives: []transcript.Alternative{{Text: "x", Score: -1}, {Text: "y", Score: -1.5}}})
	if want := []transcript.Alternative{{Text: "a x", Score: -1}, {Text: "a y", Score: -1.5}, {Text: "b x", Score: -2}}; !slices.Equal(both, want) {
		t.Errorf("%+v, want %+v", both, want)
	}
}

// Each segment of a long recording has its hypotheses, its text the first of them, whether it is a piece or pieces were
// joined there; of what is sure there is one way to cut them.
func TestAlternativesOfLongSound(t *testing.T) {
	const rate = 8000
	m := local(t, rate)
	if err := m.SetDecoding(Decoding{Decoder: Beam, Width: 8, NBest: 4}); err != nil {
		t.Fatal(err)
	}
	for _, pause := range []string{" |", " "} { // with pauses between, and without any
		words := babbled(60, 5)
		got, _, _ := cutInto(t, m, soundOf(t, rate, chant(strings.Join(words, pause), 0.3, rate)), 4, 0)
		if got.Text() != strings.Join(words, " ") || len(got.Segments) < 3 {
			t.Errorf("pauses %q: %q in %d segments", pause, got.Text(), len(got.Segments))
		}
		several := 0
		for _, s := range got.Segments {
			list := s.Alternatives
			if len(list) == 0 || list[0].Text != s.Text || len(list) > 4 {
				t.Fatalf("pauses %q: %q has %+v", pause, s.Text, list)
			}
			if len(list) > 1 {
				several++
			}
			for i, a := range list {
				if i > 0 && a.Score > list[i-1].Score || slices.ContainsFunc(list[:i], func(x transcript.Alternative) bool { return x.Text == a.Text }) ||
					a.Text != strings.Join(strings.Fields(a.Text), " ") {
					t.Errorf("pauses %q: %+v", pause, list)
				}
			}
		}
		if several == 0 {
			t.Errorf("pauses %q: no segment has more than its text", pause)
		}
	}
}
