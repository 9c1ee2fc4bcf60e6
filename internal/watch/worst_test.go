package watch

import (
	"slices"
	"testing"
)

// Validations are those of one run, since it began, without what was made again, whether the file is read at once or as
// it grows.
func TestValidationsOfARun(t *testing.T) {
	lines := []string{
		`{"event":"validation","time":"2026-01-02T03:00:00Z","update":90}` + "\n",
		`{"event":"start","time":"2026-01-02T03:00:00Z","update":0}` + "\n",
		`{"event":"validation","time":"2026-01-02T03:00:00Z","update":1,"worst":[{"id":"a","reference":"x","hypothesis":"y","words":{"sub":1,"ref":1},"loss":null}],"histogram":{"words":[0,1]}}` + "\n",
		`{"event":"validation","time":"2026-01-02T03:00:00Z","run":"/other","update":3}` + "\n",
		"somebody's line\n",
		`{"event":"validation","time":"2026-01-02T03:00:00Z","update":2}` + "\n",
		`{"event":"validation","time":"2026-01-02T03:00:00Z","update":3}` + "\n",
		`{"event":"start","time":"2026-01-02T03:00:00Z","update":2,"resumed_at":2}` + "\n",
		`{"event":"validation","time":"2026-01-02T03:00:00Z","update":4}` + "\n",
		`{"event":"validation","time":"2026-01-02T03:00:00Z","upd`,
	}
	dir := t.TempDir()
	growing, other := newValidations(dir, ""), newValidations(dir, "/other")
	write(t, dir, validationsFile, "")
	for i, line := range lines {
		add(t, dir, validationsFile, line)
		if err := growing.read(); err != nil {
			t.Fatal(err)
		}
		if i == 7 && !slices.Equal(growing.updates(), []int{1, 2}) {
			t.Errorf("after the resume: %v", growing.updates())
		}
	}
	whole := newValidations(dir, "")
	for _, v := range []*validations{whole, other} {
		if err := v.read(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(whole.updates(), []int{1, 2, 4}) || !slices.Equal(growing.updates(), whole.updates()) || !slices.Equal(other.updates(), []int{3}) {
		t.Errorf("%v, growing %v, of the other run %v", whole.updates(), growing.updates(), other.updates())
	}
	first, err := whole.at(1)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	if u := first.Worst[0]; u.ID != "a" || u.Words.Errors() != 1 || u.Loss != nil || first.Rates.Words[1] != 1 {
		t.Errorf("%+v", first)
	}
}
