package text

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text/sentencepiece"
)

func pieces(t *testing.T, name string) *Pieces {
	t.Helper()
	p, err := ReadPieces(filepath.Join("sentencepiece", "testdata", name+".model"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Ids are the model's own where its first pieces are <unk>, <s>, </s>, and skip those that no text has elsewhere.
func TestPieceIDs(t *testing.T) {
	p := pieces(t, "bpe")
	for id := int32(3); int(id) < p.Size(); id++ {
		if p.Token(id) != p.model.Pieces[id].Text {
			t.Fatalf("id %d is %q, and %q to the model", id, p.Token(id), p.model.Pieces[id].Text)
		}
	}
	if p.Size() != len(p.model.Pieces) || p.String() != "130 pieces (bpe)" || p.Token(2) != "<unk>" || p.Token(130) != "" || p.Token(-1) != "" {
		t.Errorf("%v, %q", p, p.Token(2))
	}
	other := pieces(t, "symbols") // <s>, </s>, <pad>, <unk>, <ctl>, <sep>, ...
	if other.Token(3) != "<sep>" || other.Size() != len(other.model.Pieces)-2 {
		t.Errorf("%q, %d ids of %d pieces", other.Token(3), other.Size(), len(other.model.Pieces))
	}
}

// What is known comes back, what isn't is one <unk>, and counted letter by letter.
func TestPiecesCountTheUnknown(t *testing.T) {
	p := pieces(t, "bpe")
	var u Unknown
	ids := p.Encode("तो 漢字 वाटेर", &u)
	if got := p.Decode(slices.Concat([]int32{Blank}, ids, []int32{SosEos})); got != "तो  ⁇  वाटेर" {
		t.Errorf("%q", got)
	}
	if u.Letters != 9 || u.Outside != 2 || u.String() != `2 of 9 letters (22.22 %) are outside the vocabulary: "字" x 1, "漢" x 1` {
		t.Errorf("%v", &u)
	}
	n := 0
	for _, id := range ids {
		if id == Unk {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d has %d <unk>", ids, n)
	}
	u = Unknown{}
	bytes := pieces(t, "bytes")
	if got := bytes.Decode(bytes.Encode("तो 漢字 वाटेर", &u)); got != "तो 漢字 वाटेर" || u.Outside != 0 || u.Letters != 9 {
		t.Errorf("%q, %v", got, &u)
	}
	if ids := p.Encode("तो", nil); !slices.Equal(ids, p.Encode("तो", &u)) {
		t.Errorf("%d without counting", ids)
	}
}

// Each id has its part of the text, also what no piece can write.
func TestPartsOfTexts(t *testing.T) {
	v, err := NewVocabulary([]rune("abतो"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Tokenizer{"characters": v, "bpe": pieces(t, "bpe"), "bytes": pieces(t, "bytes")} {
		for _, s := range []string{"तो 漢字 ab", "▁ab", ""} {
			parts, ids := c.Parts(s), c.Encode(s, nil)
			got, want := strings.Join(parts, ""), s
			if name != "characters" { // SentencePiece puts a space in front, and ▁ is one to it
				got, want = strings.TrimSpace(got), strings.Trim(s, " ▁")
			}
			if got != want || len(parts) != len(ids) {
				t.Errorf("%s: %q of %q, for %d", name, parts, s, ids)
			}
		}
	}
}

func TestPiecesAreStored(t *testing.T) {
	p := pieces(t, "unigram")
	b, err := json.Marshal(Stored{p})
	if err != nil {
		t.Fatal(err)
	}
	var back Stored
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := p.Diff(back); diff != nil || back.Diff(p) != nil {
		t.Error(diff)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(b) {
		t.Errorf("written again it is another: %v", err)
	}
	v, err := NewVocabulary([]rune("ab"))
	if err != nil {
		t.Fatal(err)
	}
	trained, err := TrainBPE(slices.Values([]string{"aa aa b b"}), 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := TrainBPE(slices.Values([]string{"bb bb a a"}), 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	changed := &Pieces{}
	model := []byte(`"` + piecesType + `"`)
	if err := changed.UnmarshalJSON([]byte(`{"type":` + string(model) + `,"model":"AAAA"}`)); err == nil || !strings.Contains(err.Error(), "no model of SentencePiece") {
		t.Error(err)
	}
	for _, c := range []struct {
		a, b Tokenizer
		want string
	}{
		{p, v, "tokenizer: the model has 130 pieces (unigram), the data 5 characters"},
		{v, Stored{p}, "tokenizer: the model has 5 characters, the data 130 pieces (unigram)"},
		{trained, p, "tokenizer: the model has 8 pieces (bpe), the data 130 pieces (unigram)"},
		{trained, other, `tokenizer id 3: the model has "aa", the data "bb"`},
	} {
		if got := c.a.Diff(c.b); len(got) != 1 || got[0] != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestReadPiecesRefusals(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.model")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, MaxModel+1); err != nil {
		t.Fatal(err)
	}
	only := filepath.Join(dir, "only.model")
	m := &sentencepiece.Model{Algorithm: sentencepiece.BPE, Pieces: []sentencepiece.Piece{{Text: "<unk>", Kind: sentencepiece.Unknown}}}
	if err := os.WriteFile(only, m.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "is no file of at most 8.0 MiB", large: "is no file of at most 8.0 MiB", only: "no piece that a text can have",
		filepath.Join(dir, "none"): "no such file", filepath.Join("sentencepiece", "testdata", "make.py"): "make.py: no model of SentencePiece",
	} {
		if _, err := ReadPieces(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
