package text

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// devanagari is the space and the whole Devanagari block.
func devanagari(t testing.TB) *Vocabulary {
	chars := []rune{' '}
	for r := rune(0x900); r < 0x980; r++ {
		chars = append(chars, r)
	}
	v, err := NewVocabulary(chars)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBuild(t *testing.T) {
	texts := slices.Values([]string{"बी वाट", "वाट", "z"})
	v, err := Build(texts, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for id := range int32(v.Size()) {
		got = append(got, v.Token(id))
	}
	want := []string{"<blank>", "<sos/eos>", "<unk>", " ", "z", "ट", "ब", "व", "ा", "ी"}
	if !slices.Equal(got, want) {
		t.Errorf("tokens %q, want %q", got, want)
	}
	if v.Token(-1) != "" || v.Token(int32(v.Size())) != "" {
		t.Error("ids outside the vocabulary have tokens")
	}
	if v, err = Build(texts, 2); err != nil || v.Size() != 3+3 {
		t.Errorf("characters seen twice: size %d, %v; want 6 (ट व ा)", v.Size(), err)
	}
	if _, err = Build(texts, 100); err == nil {
		t.Error("a vocabulary without characters was made")
	}
	if _, err = NewVocabulary([]rune("aba")); err == nil || !strings.Contains(err.Error(), `'a'`) {
		t.Errorf("the same character twice: %v", err)
	}
}

func TestEncodeDecode(t *testing.T) {
	v := devanagari(t)
	// Every text comes back unchanged, marks included.
	for _, s := range []string{"", "प्राचीन", "कु", "बीं", "ाककी पररा", "ं तें", "हांव घरा वता"} {
		ids := v.Encode(s, nil)
		if len(ids) != len([]rune(s)) {
			t.Errorf("%q has %d ids", s, len(ids))
		}
		if got := v.Decode(ids); got != s {
			t.Errorf("%q -> %v -> %q", s, ids, got)
		}
	}
	if id, ok := v.ID(0x941); !ok || v.Encode("कु", nil)[1] != id {
		t.Error("U+0941 has no id of its own")
	}
	if got := v.Decode([]int32{int32(v.Size()) - 1, int32(v.Size())}); got != "\u097f\ufffd" {
		t.Errorf("the last id and the one behind it decode to %q", got)
	}
	if got := v.Decode([]int32{SosEos, Blank, 4, Unk, -1, 1 << 20}); got != "\u0900\ufffd\ufffd\ufffd" {
		t.Errorf("special ids decode to %q", got)
	}
}

func TestComposedAndDecomposedGiveTheSameIDs(t *testing.T) {
	v := devanagari(t)
	var p Policy
	for _, c := range [][2]string{
		{"\u0931", "\u0930\u093c"}, {"\u0929", "\u0928\u093c"}, {"\u0958", "\u0915\u093c"}, {"\u095c", "\u0921\u093c"},
		{"\u0939\u0958\u0940\u0915\u0924", "\u0939\u0915\u093c\u0940\u0915\u0924"},
	} {
		var u Unknown
		a, b := v.Encode(p.Normalize(c[0]), &u), v.Encode(p.Normalize(c[1]), &u)
		if !slices.Equal(a, b) || u.Outside != 0 {
			t.Errorf("%+q: %v, %+q: %v, unknown %v", c[0], a, c[1], b, &u)
		}
	}
}

func TestUnknown(t *testing.T) {
	v := devanagari(t)
	var p Policy
	for _, c := range []struct {
		text             string
		outside, letters int
		top              []CharCount
	}{
		{"बt सग्यां besट फriend", 9, 18, []CharCount{{"e", 2}, {"b", 1}, {"d", 1}, {"i", 1}, {"n", 1}, {"r", 1}, {"s", 1}, {"t", 1}}},
		{"वाट", 0, 3, nil},
		{"time set झालं", 7, 11, []CharCount{{"e", 2}, {"t", 2}, {"i", 1}, {"m", 1}, {"s", 1}}},
		{"গোয়া वाट", 5, 8, []CharCount{{"গ", 1}, {"য", 1}, {"\u09bc", 1}, {"\u09be", 1}, {"\u09cb", 1}}},
	} {
		var u Unknown
		ids := v.Encode(p.Normalize(c.text), &u)
		if u.Outside != c.outside || u.Letters != c.letters || !slices.Equal(u.Top(0), c.top) {
			t.Errorf("%q: %d of %d, %v; want %d of %d, %v", c.text, u.Outside, u.Letters, u.Top(0), c.outside, c.letters, c.top)
		}
		n := 0
		for _, id := range ids {
			if id == Unk {
				n++
			}
		}
		if n != c.outside {
			t.Errorf("%q: %d ids are <unk>, want %d", c.text, n, c.outside)
		}
		for most := 1; most < 3; most++ {
			if got := u.Top(most); !slices.Equal(got, c.top[:min(most, len(c.top))]) {
				t.Errorf("Top(%d) of %q: %v", most, c.text, got)
			}
		}
	}
	var u Unknown
	if u.Share() != 0 || u.String() != "0 of 0 letters are outside the vocabulary" {
		t.Errorf("nothing seen: share %v, %v", u.Share(), &u)
	}
	v.Encode("बtttब", &u)
	if want := `3 of 5 letters (60.00 %) are outside the vocabulary: "t" x 3`; u.String() != want {
		t.Errorf("%q, want %q", u.String(), want)
	}
	words, _ := NewVocabulary([]rune("a")) // a vocabulary of single words has no space
	var spaced Unknown
	words.Encode("a b a", &spaced)
	if want := `1 of 3 letters (33.33 %) are outside the vocabulary: "b" x 1; so is the space, x 2`; spaced.String() != want {
		t.Errorf("%q, want %q", spaced.String(), want)
	}
}

// Of many characters ten are named; a space alone is not called a letter.
func TestUnknownInWords(t *testing.T) {
	v, err := NewVocabulary([]rune("a"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a a":          "0 of 2 letters (0.00 %) are outside the vocabulary; so is the space, x 1",
		"bcdefghijk":   `10 of 10 letters (100.00 %) are outside the vocabulary: "b" x 1, "c" x 1, "d" x 1, "e" x 1, "f" x 1, "g" x 1, "h" x 1, "i" x 1, "j" x 1, "k" x 1`,
		"bcdefghijkll": `12 of 12 letters (100.00 %) are outside the vocabulary: "l" x 2, "b" x 1, "c" x 1, "d" x 1, "e" x 1, "f" x 1, "g" x 1, "h" x 1, "i" x 1, "j" x 1 and 1 more`,
	} {
		var u Unknown
		v.Encode(text, &u)
		if got := u.String(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestVocabularyJSON(t *testing.T) {
	v := devanagari(t)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Vocabulary)
	if err := json.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	if d := v.Diff(got); d != nil {
		t.Errorf("the vocabulary that was read differs: %q", d)
	}
	for _, c := range []struct{ name, file, say string }{
		{"cut", `{"tokens": ["<blank>", "<sos`, "not the expected JSON"},
		{"a number", `{"tokens": 5}`, "not the expected JSON"},
		{"another order", `{"tokens": ["<pad>", "<blank>", "<sos>", "a"]}`, "must start with"},
		{"no specials", `{"tokens": []}`, "must start with"},
		{"two specials", `{"tokens": ["<blank>", "<sos/eos>"]}`, "must start with"},
		{"only specials", `{"tokens": ["<blank>", "<sos/eos>", "<unk>"]}`, "no characters"},
		{"two characters", `{"tokens": ["<blank>", "<sos/eos>", "<unk>", "ab"]}`, `token 3 is "ab"`},
		{"an empty token", `{"tokens": ["<blank>", "<sos/eos>", "<unk>", ""]}`, `token 3 is ""`},
		{"a character twice", `{"tokens": ["<blank>", "<sos/eos>", "<unk>", "a", "a"]}`, "has two ids, 3 and 4"},
		{"not UTF-8", "{\"tokens\": [\"<blank>\", \"<sos/eos>\", \"<unk>\", \"\xff\"]}", "not UTF-8"},
		{"another program's", `{"char2idx": {"<pad>": 0}}`, "must start with"},
	} {
		err := new(Vocabulary).UnmarshalJSON([]byte(c.file))
		if err == nil || !strings.HasPrefix(err.Error(), "vocabulary: ") || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v; want %q", c.name, err, c.say)
		}
	}
}

func TestVocabularyDiff(t *testing.T) {
	make := func(s string) *Vocabulary {
		v, err := NewVocabulary([]rune(s))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		a, b string
		want []string
	}{
		{"abc", "abc", nil},
		{"abc", "ab", []string{"vocabulary size: the model has 6, the data 5"}},
		{"abc", "acb", []string{`vocabulary id 4: the model has 'b' (U+0062), the data 'c' (U+0063)`}},
	} {
		if got := make(c.a).Diff(make(c.b)); !slices.Equal(got, c.want) {
			t.Errorf("%s against %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func FuzzVocabularyFile(f *testing.F) {
	f.Add([]byte(`{"tokens": ["<blank>", "<sos/eos>", "<unk>", " ", "a", "\u0915"]}`))
	f.Add([]byte(`{"tokens": ["<blank>", "<sos/eos>", "<unk>", "\ud800"]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v Vocabulary
		if v.UnmarshalJSON(b) != nil {
			return
		}
		again, err := json.Marshal(&v)
		if err != nil {
			t.Fatal(err)
		}
		var w Vocabulary
		if err := json.Unmarshal(again, &w); err != nil || v.Diff(&w) != nil {
			t.Fatalf("%s -> %s: %v, %v", b, again, err, v.Diff(&w))
		}
		all := make([]int32, v.Size()-3)
		for i := range all {
			all[i] = int32(i + 3)
		}
		if got := v.Encode(v.Decode(all), nil); !slices.Equal(got, all) {
			t.Fatalf("%s: ids %v come back as %v", b, all, got)
		}
	})
}
