package text

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Characters are stored as they were before there were other tokenizers, and nothing as null.
func TestStoredCharacters(t *testing.T) {
	v, err := Build(slices.Values([]string{"ab a"}), 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(struct {
		Vocabulary Stored `json:"vocabulary"`
		None       Stored
	}{Vocabulary: Stored{v}})
	const want = `{"vocabulary":{"tokens":["\u003cblank\u003e","\u003csos/eos\u003e","\u003cunk\u003e"," ","a","b"]},"None":null}`
	if err != nil || string(b) != want {
		t.Fatalf("%s, %v", b, err)
	}
	var back struct{ Vocabulary, None Stored }
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back.None.Tokenizer != nil || back.Vocabulary.Diff(v) != nil || v.Diff(back.Vocabulary) != nil {
		t.Errorf("%v came back", back)
	}
}

func TestStoredRefusals(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                       "tokenizer: ",
		`{"type":"abacus"}`:        `the type "abacus" is unknown`,
		`{"tokens":["a"]}`:         "must start with",
		`{"type":3,"tokens":[""]}`: "tokenizer: ",
	} {
		var s Stored
		if err := json.Unmarshal([]byte(in), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}
