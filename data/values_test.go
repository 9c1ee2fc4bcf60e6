package data

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

// Values of keys that are asked for stay with their utterances, from JSON lines and tables, also in a part of a set.
func TestValues(t *testing.T) {
	dir := corpus(t, map[string]string{
		"a.jsonl": with(lineA, `"dialect": "north", "age": 31`) + with(lineB, `"dialect": null, "old": true, "age": {"x": 1}`) + with(lineC, `"dialect": " so\u0075th "`),
		"b.csv":   "path,sentence, Dialect\naudio/a.wav,वाट,\"west, far\"\naudio/b.wav,घर\n",
		"c.tsv":   "path\tsentence\tage\naudio/c.wav\tघर\t07\n",
	})
	keys := []string{"dialect", "age", "old"}
	load := func(keys []string, names ...string) (*Set, error) {
		var list []Manifest
		for _, name := range names {
			list = append(list, Manifest{filepath.Join(dir, name), 1})
		}
		return LoadAll(t.Context(), list, Options{Keys: keys})
	}
	set, err := load(keys, "a.jsonl", "b.csv", "c.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"north", "31", ""}, {"", "", "true"}, {"south", "", ""}, {"west, far", "", ""}, nil, {"", "07", ""}}
	var got [][]string
	for _, u := range set.All() {
		got = append(got, u.Values)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	part := set.Select(func(i int) bool { return i%2 == 0 })
	if got := part.At(1).Values; !cmp.Equal(got, want[2]) {
		t.Errorf("%q", got)
	}
	if set, err = load(nil, "a.jsonl"); err != nil || set.At(0).Values != nil {
		t.Errorf("%v, %v", set, err)
	}
	_, err = load([]string{"dialect", "snr"}, "a.jsonl", "b.csv")
	testkit.MustFail(t, err, "a.jsonl", `no line has a value of "snr"`, "its keys are age, audio_filepath, dialect, duration, text")
	_, err = load([]string{"snr"}, "b.csv")
	testkit.MustFail(t, err, "b.csv", "its keys are path, sentence,  Dialect")
	testkit.MustFail(t, err, strings.TrimSpace("snr"))
}
