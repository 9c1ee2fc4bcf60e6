package checkpoint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for step := range 8 {
		mustSave(t, dir, step, 3)
	}
	steps := func() (s []int) {
		list, err := List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			s = append(s, e.Step)
		}
		return s
	}
	if _, err := Prune(dir, Keep{}); err == nil || len(steps()) != 8 {
		t.Error("keeping none was not refused")
	}
	removed, err := Prune(dir, Keep{Last: 3, Also: []string{filepath.Join("elsewhere", Name(2)), "", Name(3)}})
	if err != nil || !slices.Equal(steps(), []int{2, 3, 5, 6, 7}) || len(removed) != 3 || removed[0] != filepath.Join(dir, Name(0)) {
		t.Error(steps(), removed, err)
	}
	// The newest is cut short: it stays to be looked at, and the last 2 whole ones stay beside it.
	if err := os.Truncate(filepath.Join(dir, Name(7), ModelFile), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(dir, Keep{Last: 2}); err != nil || !slices.Equal(steps(), []int{5, 6, 7}) {
		t.Error(steps(), err)
	}
	if left, err := Leftovers(dir); len(left) != 0 || err != nil {
		t.Error(left, err)
	}
}

// A checkpoint that was passed over as damaged doesn't count among the last ones, so that many whole ones stay beside
// it; it stays too, until it is replaced by a whole one.
func TestPruneKnowsTheDamaged(t *testing.T) {
	for last, cases := range map[int][]struct {
		step int
		left []int
	}{
		1: {{60, []int{60, 100}}, {65, []int{65, 100}}, {100, []int{100}}, {105, []int{105}}},
		2: {{60, []int{50, 60, 100}}, {65, []int{60, 65, 100}}, {100, []int{65, 100}}, {105, []int{100, 105}}},
	} {
		dir := t.TempDir()
		mustSave(t, dir, 40, 3)
		mustSave(t, dir, 50, 3)
		flip(t, filepath.Join(mustSave(t, dir, 100, 3), ModelFile), 200, 1)
		c, damaged, err := Latest(dir)
		if err != nil || c == nil || c.Step != 50 || len(damaged) != 1 {
			t.Fatal(c, damaged, err)
		}
		for _, c := range cases {
			saved := mustSave(t, dir, c.step, 3)
			if _, err := Prune(dir, Keep{Last: last, Suspect: damaged}); err != nil {
				t.Error(err)
			}
			list, err := List(dir)
			var left []int
			for _, e := range list {
				left = append(left, e.Step)
			}
			if err != nil || !slices.Equal(left, c.left) {
				t.Errorf("the last %d, after step %d: %v are left, want %v (%v)", last, c.step, left, c.left, err)
			}
			if c, _, err := Latest(dir); err != nil || c.Path != saved {
				t.Errorf("the newest whole one is %+v, want %s (%v)", c, saved, err)
			}
		}
	}
}

// A folder that can't be listed is an error for whoever asks.
func TestFolderThatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"List":         second(List(file)),
		"Latest":       third(Latest(file)),
		"Leftovers":    second(Leftovers(file)),
		"Clean":        second(Clean(file)),
		"Prune":        second(Prune(file, Keep{Last: 1})),
		"RemoveOthers": RemoveOthers(file, ""),
		"Save":         second(Save(file, 1, content(1, 2))),
		"MakeDir":      MakeDir(file),
	} {
		if err == nil || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }
