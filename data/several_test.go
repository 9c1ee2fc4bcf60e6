package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/philox"
)

func TestParseManifests(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("b:3", nil, 0o644)
	for text, want := range map[string]Manifest{
		"a.jsonl": {"a.jsonl", 1}, "a.jsonl:2": {"a.jsonl", 2}, "a:0.25": {"a", 0.25}, "b:3": {"b:3", 1}, "b:3:2": {"b:3", 2},
		`C:\x.jsonl`: {`C:\x.jsonl`, 1}, ":2": {":2", 1}, "a:b": {"a:b", 1},
	} {
		got, err := ParseManifests([]string{"", text})
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, part := range map[string]string{"a:0": "above 0", "a:-1": "above 0", "a:NaN": "above 0", "a:1e9": "1000 at most", "a:2,a": "listed twice"} {
		if got, err := ParseManifests(strings.Split(text, ",")); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if m := (Manifest{"a", 0.5}); m.String() != "a:0.5" || (Manifest{"a", 1}).String() != "a" {
		t.Errorf("%v", m)
	}
}

// three are manifests of 4, 6 and 5 utterances in folders of their own, of which some have ids.
func three(t *testing.T) []Manifest {
	files := map[string]string{}
	var list []Manifest
	for k, n := range []int{4, 6, 5} {
		var b strings.Builder
		for i := range n {
			id := ""
			if k == 2 {
				id = fmt.Sprintf(`"id": "%d.wav", `, i)
			}
			fmt.Fprintf(&b, `{%s"audio_filepath": "%d.wav", "text": "%s"}`+"\n", id, i, strings.Repeat("a", k+1))
			files[fmt.Sprintf("%d/%d.wav", k, i)] = string(wav(800*(3+i+10*k), 8000))
		}
		files[fmt.Sprintf("%d/list%d.jsonl", k, k)] = b.String()
	}
	dir := corpus(t, files)
	for k := range 3 {
		list = append(list, Manifest{filepath.Join(dir, fmt.Sprint(k), fmt.Sprintf("list%d.jsonl", k)), 1})
	}
	return list
}

func mustLoadAll(t *testing.T, list []Manifest) *Set {
	t.Helper()
	s, err := LoadAll(context.Background(), list, Options{SampleRate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Several manifests are one set: each utterance with its own file, and an identity that no other has.
func TestSeveralManifests(t *testing.T) {
	list := three(t)
	s := mustLoadAll(t, list)
	want := []string{"0.wav", "1.wav", "2.wav", "3.wav", "list1:0.wav", "list1:1.wav", "list1:2.wav", "list1:3.wav", "4.wav", "5.wav",
		"list2:0.wav", "list2:1.wav", "list2:2.wav", "list2:3.wav", "list2:4.wav"}
	if !slices.Equal(ids(s), want) || s.Report.Lines != 15 || s.Report.Kept != 15 {
		t.Errorf("%v: %v", ids(s), s.Report)
	}
	for i, u := range s.All() {
		k := len(u.Text) - 1
		if u.Key != philox.ID(u.ID) || u.Index != i || filepath.Dir(u.Path()) != filepath.Dir(list[k].Path) || u.File != list[k].Path || s.source(i) != k {
			t.Errorf("%+v", u)
		}
	}
	for _, part := range []string{
		"4 ids of " + list[1].Path + " stand in an earlier manifest too, and have list1: before them here (the first: line 1, and line 1 of " + list[0].Path,
		"5 ids of " + list[2].Path,
	} {
		if !strings.Contains(s.Report.String(), part) {
			t.Errorf("%q isn't in: %v", part, s.Report)
		}
	}
	// The first has what it has alone, and one manifest is what it was.
	alone := mustLoadAll(t, list[:1])
	if !slices.Equal(ids(alone), want[:4]) || alone.Path != list[0].Path || alone.Weighted() || alone.shares() != nil {
		t.Errorf("%v", ids(alone))
	}
	// Part of it is still of its manifests.
	half := s.Select(func(i int) bool { return i%2 == 1 })
	if got := ids(half); !slices.Equal(got, []string{want[1], want[3], want[5], want[7], want[9], want[11], want[13]}) || half.source(6) != 2 || half.source(1) != 0 {
		t.Errorf("%v", got)
	}
	if _, err := LoadAll(context.Background(), []Manifest{list[0], {list[1].Path + ".none", 1}}, Options{}); err == nil || !strings.Contains(err.Error(), "list1.jsonl.none") {
		t.Errorf("%v", err)
	}
	if _, err := LoadAll(context.Background(), nil, Options{}); err == nil {
		t.Error("no manifest was loaded")
	}
}

// An epoch has the utterances of each manifest as often as its weight says, and as many in every epoch; which, is a
// function of the seed and the epoch.
func TestWeights(t *testing.T) {
	list := three(t)
	list[0].Weight, list[1].Weight, list[2].Weight = 2, 0.5, 1.4
	s := mustLoadAll(t, list)
	o := withSpeeds(options8k(4))
	l := newLoader(t, s, o)
	if want := (2*4 + 3 + 5 + 2 + 3) / 4; l.Windows() != want {
		t.Fatalf("%d windows, want %d", l.Windows(), want)
	}
	if !strings.Contains(s.Report.String(), "an epoch has 18 utterances of these by their weights") {
		t.Errorf("%v", s.Report)
	}
	drawn := map[string]bool{}
	for epoch := range 30 {
		counts, keys := [3]int{}, map[uint64]bool{}
		times := map[string]int{}
		for k := range l.Windows() {
			for _, u := range l.Window(epoch, k) {
				counts[len(u.Text)-1]++
				times[u.ID]++
				if keys[u.Key] {
					t.Fatalf("epoch %d: two rows with the key of %s", epoch, u.ID)
				}
				keys[u.Key] = true
				if len(u.Text) == 2 {
					drawn[u.ID] = true
				}
			}
		}
		if counts != [3]int{8, 3, 7} || times["0.wav"] != 2 {
			t.Fatalf("epoch %d has %v", epoch, counts)
		}
	}
	if len(drawn) != 6 {
		t.Errorf("of six, %v came in thirty epochs", drawn)
	}
	checkLengths(t, l, 3)
	// From the middle of an epoch on it is what it is from the start.
	all, rest := prints(t, l, 0, 0, 2*l.Windows()), prints(t, newLoader(t, s, o), 0, 3, 2*l.Windows()-3)
	if !slices.Equal(all[len(all)-len(rest):], rest) {
		t.Errorf("%v is not the end of %v", rest, all)
	}
	// An evaluation has each once.
	o.Evaluate, o.Augment = true, nil
	if n := newLoader(t, s, o).Windows(); n != 4 {
		t.Errorf("%d windows of an evaluation", n)
	}
}

// The order of weights of 1 is the order without weights.
func TestSharedOrderOfOnes(t *testing.T) {
	lengths := lengthsFor(50)
	var all, some, rest []int32
	for i := range int32(50) {
		all = append(all, i)
		if i < 20 {
			some = append(some, i)
		} else {
			rest = append(rest, i)
		}
	}
	plain, _ := NewOrder(lengths, 4, 3)
	for _, shares := range [][]share{{{all, 1, 0}}, {{some, 1, 0}, {rest, 1, 0}}} {
		o, err := newShared(lengths, shares, 4, 0, 3)
		if err != nil || o.Windows() != plain.Windows() || !slices.Equal(o.build(2), plain.build(2)) {
			t.Errorf("%v: %v", shares, err)
		}
	}
	if _, err := newShared(lengths, []share{{all[:1], 0, 0.1}}, 4, 0, 3); err == nil {
		t.Error("an order of nothing")
	}
}

// What is said to be held covers rows that come several times.
func TestMemoryOfWeights(t *testing.T) {
	list := three(t)
	bytes := func(w float64) int64 {
		list[2].Weight = w
		return newLoader(t, mustLoadAll(t, list), options8k(8)).Memory().Windows
	}
	if one, three := bytes(1), bytes(3); three <= one {
		t.Errorf("%d bytes, and %d where the longest come three times", one, three)
	}
}
