package decode

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// greedily are the tokens of a best path, and how many of its frames are blank.
func greedily(path []int32) (tokens []int32, blanks int) {
	v := 1
	for _, id := range path {
		v = max(v, int(id)+1)
	}
	f := Frames{LogProbs: make([]float32, len(path)*v), V: v}
	for t, id := range path {
		for i := range f.Row(t) {
			f.Row(t)[i] = -9
		}
		f.Row(t)[id] = 0
	}
	h := NewGreedy(0).Decode(f, 1)[0]
	blanks = len(path)
	for _, s := range h.Spans {
		blanks -= int(s.End - s.Start)
	}
	return h.Tokens, blanks
}

func TestGreedy(t *testing.T) {
	for _, c := range []struct {
		frames, want []int32
		blanks       int
	}{
		{nil, nil, 0},
		{make([]int32, 12), nil, 12},
		{[]int32{0, 0, 3, 3, 0, 3, 0, 0, 5, 5, 5, 0}, []int32{3, 3, 5}, 6},
		{[]int32{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, []int32{4}, 0},
		{[]int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, []int32{7}, 11},
	} {
		if got, blanks := greedily(c.frames); !slices.Equal(got, c.want) || blanks != c.blanks {
			t.Errorf("%v -> %v and %d blanks, want %v and %d", c.frames, got, blanks, c.want, c.blanks)
		}
	}
}

// Best paths of another recognizer, with its texts and shares of blanks.
func TestGreedyOfAnotherRecognizer(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "text", "blank_runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Frames []int32
		Share  float64 `json:"blank_share"`
		IDs    []int32 `json:"text_ids"`
	}
	if err := json.Unmarshal(b, &all); err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, c := range all {
		if got, blanks := greedily(c.Frames); !slices.Equal(got, c.IDs) || float64(blanks) != c.Share*float64(len(c.Frames)) {
			t.Errorf("%v: %v, %d", c.Frames, got, blanks)
		}
	}
}
