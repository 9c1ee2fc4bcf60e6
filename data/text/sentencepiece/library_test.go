package sentencepiece

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The library's own ids and texts, for models that it trained: testdata/make.py wrote them down.
func TestAsTheLibrary(t *testing.T) { asTheLibrary(t, "testdata", 8) }

func asTheLibrary(t *testing.T, dir string, want int) (cases int) {
	t.Helper()
	models := map[string]*Model{}
	f, err := os.Open(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	failed := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Model string
			Text  *string
			IDs   []int
			Back  string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		m := models[c.Model]
		if m == nil {
			b, err := os.ReadFile(filepath.Join(dir, c.Model+".model"))
			if err != nil {
				t.Fatal(err)
			}
			if m, err = Parse(b); err != nil {
				t.Fatal(err)
			}
			models[c.Model] = m
		}
		cases++
		if failed[c.Model] > 4 {
			continue
		}
		if c.Text != nil {
			if got := ids(m.Encode(*c.Text)); !slices.Equal(got, c.IDs) {
				failed[c.Model]++
				t.Errorf("%s: %+q is %d, want %d", c.Model, *c.Text, got, c.IDs)
			}
		}
		if got := m.Decode(c.IDs); got != c.Back {
			failed[c.Model]++
			t.Errorf("%s: %d is %+q, want %+q", c.Model, c.IDs, got, c.Back)
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	if len(models) != want {
		t.Errorf("%d models, want %d", len(models), want)
	}
	return cases
}

func ids(parts []Part) []int {
	out := []int{}
	for _, p := range parts {
		out = append(out, p.ID)
	}
	return out
}
