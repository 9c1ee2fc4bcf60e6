package text

import (
	"slices"
	"testing"
)

// What is there keeps its ids; what is new comes behind, once.
func TestWith(t *testing.T) {
	a, _ := NewVocabulary([]rune("bac"))
	b, _ := NewVocabulary([]rune("xaयb"))
	both, err := a.With(b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(both.chars, []rune("bacxय")) || both.Size() != 8 {
		t.Errorf("the characters are %q", both.chars)
	}
	if same, err := both.With(b); err != nil || both.Diff(same) != nil {
		t.Errorf("with nothing new it is %q, %v", same.chars, err)
	}
}
