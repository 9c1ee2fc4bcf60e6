package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

// made is a result with values that are easy to follow.
func made(task, fold, recipe, over string, seed uint64, exact, cer float64) result {
	return result{key: key{Task: task, Fold: fold, Recipe: recipe, Seed: seed, Preset: "p"}, What: "what " + recipe, Over: over, Program: "r1",
		score: score{WER: 100 - exact, CER: cer, Exact: exact, Blanks: 10 * float64(seed)}, Updates: 40, CPU: 0.5}
}

func TestStat(t *testing.T) {
	for _, c := range []struct {
		values             []float64
		want               stat
		plusMinus, theRest string
	}{
		{nil, stat{}, "", ""},
		{[]float64{3}, stat{3, 0, 3, 3, 1}, "3.00", ""},
		{[]float64{1, 5, 3}, stat{3, 2, 1, 5, 3}, "3.00 ± 2.00", "4.00"}, // (4 + 4 + 0) / 2 is the square of 2
	} {
		s := statOf(c.values)
		if s != c.want || s.plusMinus() != c.plusMinus || s.apart() != c.theRest {
			t.Errorf("%v: %+v, %q, %q", c.values, s, s.plusMinus(), s.apart())
		}
	}
}

// A seed's value is the mean over folds, and a gain is taken seed by seed. Seeds without all folds count for nothing.
func TestSummarize(t *testing.T) {
	list := []result{
		made("words", "a", "base", "", 1, 50, 30), made("words", "b", "base", "", 1, 70, 20),
		made("words", "a", "base", "", 2, 80, 10), made("words", "b", "base", "", 2, 90, 10),
		made("words", "a", "mix", "base", 2, 90, 5), made("words", "b", "mix", "base", 2, 96, 5),
		made("words", "a", "mix", "base", 1, 71, 9),
		made("sequences", "", "mix", "base", 1, 0, 12),
	}
	failed := made("words", "b", "mix", "base", 1, 0, 0)
	failed.Failed = "exit status 1\nno memory"
	list = append(list, failed, result{key: key{Task: "gone", Recipe: "old", Seed: 1}, score: score{CER: 7}})
	got := summarize(list, []string{"base", "mix"})
	var names []string
	for _, s := range got {
		names = append(names, s.name)
	}
	if want := []string{"sequences", "words", "gone"}; !slices.Equal(names, want) { // the tasks' order, and others behind
		t.Fatalf("%v, want %v", names, want)
	}
	words := got[1]
	base, mix := words.rows[0], words.rows[1]
	if base.value != (stat{72.5, math.Sqrt(2 * 12.5 * 12.5), 60, 85, 2}) || base.gain != nil || base.blanks.low != 10 || base.blanks.high != 20 {
		t.Errorf("base is %+v", base)
	}
	if mix.value != (stat{93, 0, 93, 93, 1}) || mix.failed != 1 || mix.partial != 1 || mix.runs != 4 || *mix.gain != (gain{"base", stat{8, 0, 8, 8, 1}}) {
		t.Errorf("mix is %+v with a gain of %+v", mix, mix.gain)
	}
	if s := got[0].rows[0]; s.value.mean != 12 || s.gain != nil { // there is no base to compare it with
		t.Errorf("sequences have %+v", s)
	}

	text := markdown(tables(got))
	testkit.MustContain(t, text,
		"| recipe | sequences: CER, % | words: words right, % | gone: CER, % |\n",
		"| mix | 12.00 | 93.00 |  |\n", "| base |  | 72.50 ± 17.68 |  |\n",
		"| base | what base | 72.50 ± 17.68 | 25.00 |  | 2 | 17.50 ± 10.61 | 10 to 20 | 40 | 500 | r1 |\n",
		"| mix | what mix | 93.00 |  | +8.00 over base | 1, 1 runs failed, 1 without all folds | 5.00 | 20 to 20 | 40 | 500 | r1 |\n")
	p := pageOf(got)
	if want := "10 runs of 3 recipes on 3 tasks"; p.Summary != want {
		t.Errorf("%q, want %q", p.Summary, want)
	}
	if diff := cmp.Diff([]string{"base", "mix", "old"}, p.First); diff != "" {
		t.Errorf("in color, want (-) and got (+):\n%s", diff)
	}
	testkit.MustContain(t, strings.Join(p.Notes, "\n"), "words, mix: exit status 1\nno memory")
}

// Further sets have a column of their own, recipes without them an empty cell.
func TestFurtherSets(t *testing.T) {
	one, two := made("sentences", "", "base", "", 1, 0, 30), made("sentences", "", "mix", "base", 1, 0, 20)
	two.More = []more{{"unseen sentences", score{CER: 25}}}
	two.Program = "r2"
	third := made("sentences", "", "mix", "base", 2, 0, 22)
	third.More = []more{{"unseen sentences", score{CER: 29}}}
	text := markdown(tables(summarize([]result{one, two, third}, nil)))
	testkit.MustContain(t, text, "| unseen sentences: CER, % | WER, % |", "| mix | what mix | 21.00 ± 1.41 | 2.00 | -10.00 over base | 2 | 27.00 ± 2.83 | 100.00 ± 0.00 |",
		"| base | what base | 30.00 |  |  | 1 |  | 100.00 |", "| r2, r1 |")
	testkit.MustContain(t, fmt.Sprint(pageOf(summarize([]result{one, two, third}, nil)).Notes), "its runs are of 2 programs: r2, r1")
}

// Of runs that were made again the last counts, and of a recipe whose flags have changed those with the new ones.
func TestLatest(t *testing.T) {
	old, failed, again := made("words", "", "base", "", 1, 1, 0), made("words", "", "base", "", 1, 2, 0), made("words", "", "base", "", 1, 3, 0)
	failed.Failed = "x"
	other := made("words", "", "base", "", 2, 4, 0)
	if got := latest([]result{old, failed, other, again}); len(got) != 2 || got[0].Exact != 4 || got[1].Exact != 3 {
		t.Errorf("%+v", got)
	}
	changed := made("words", "", "base", "", 1, 5, 0)
	changed.Flags = "--a=1"
	elsewhere := made("digits-theo", "", "base", "", 1, 6, 0)
	if got := latest([]result{old, other, elsewhere, changed}); len(got) != 2 || got[0].Exact != 6 || got[1].Exact != 5 {
		t.Errorf("%+v", got)
	}
	r := &results{list: []result{old, failed}}
	if r.done(old.key) || r.done(changed.key) || !(&results{list: []result{failed, old}}).done(old.key) {
		t.Error("what has a result is told wrongly")
	}
}

// Bands are read at the updates of the longest curve; shorter ones end where they end.
func TestBand(t *testing.T) {
	got := bandOf([]curve{{{10, 4}, {30, 2}}, nil, {{10, 2}, {20, 1}, {30, 1}, {40, 9}}})
	want := band{x: []float64{10, 20, 30, 40}, mean: []float64{3, 2, 1.5, 9}, low: []float64{2, 1, 1, 9}, high: []float64{4, 3, 2, 9}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(band{})); diff != "" {
		t.Errorf("want (-) and got (+):\n%s", diff)
	}
	if got := bandOf(nil); got.x != nil {
		t.Errorf("%+v", got)
	}
	if v, ok := (curve{{10, 1}}).at(9); ok {
		t.Errorf("before its begin a curve has %v", v)
	}
}

func TestReadMetrics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	lines := []string{`{"event":"start","update":0}`}
	for i := 1; i <= 150; i++ {
		lines = append(lines, fmt.Sprintf(`{"event":"update","update":%d,"loss":%d,"utterances":%d,"seconds":0.5}`, 10*i, 300-i, 1+i%2))
	}
	lines = append(lines, `{"event":"upd`, `{"event":"start","update":1500}`,
		`{"event":"update","update":1510,"loss":null,"utterances":0,"seconds":0.5}`, // no update was made
		`{"event":"validation","update":1510,"cer":0.255,"took":4,"blank_share":1}`, `{"event":"save","update":1512}`,
		`{"event":"test","weights":"best weights","wer":0.5,"cer":0.12345678,"blank_share":0.61,"score":{"utterances":40,"exact":15}}`)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	h, err := readMetrics(path)
	if err != nil {
		t.Fatal(err)
	}
	if h.started != 1500 || h.updates != 1512 || h.seconds != 75+0.5+4 || h.test.Weights != "best weights" {
		t.Errorf("%+v", h)
	}
	if got, want := scoreOf(h.test), (score{WER: 50, CER: 12.346, Exact: 37.5, Blanks: 61}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// 150 records make 60 points of two or three; the first is of updates 10 and 20, with 2 and 1 utterances.
	losses := h.lossCurve()
	if len(losses) != mostPoints || losses[0] != [2]float64{20, digits((2*299.0+298)/3, 4)} || losses[59][0] != 1500 {
		t.Errorf("%d points: %v", len(losses), losses)
	}
	if diff := cmp.Diff(curve{{1510, 25.5}}, h.cerCurve()); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		`{"event":"start"}`:               "has no update",
		`{"event":"update","update":"x"}`: "metrics.jsonl:1",
	} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := readMetrics(path)
		testkit.MustFail(t, err, want)
	}
}

// A results file whose last line was cut has the next one in its place; what is no result is an error with its line.
func TestResultsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	r, err := openResults(path)
	if err != nil || len(r.list) != 0 {
		t.Fatal(err)
	}
	one := made("words", "v01", "base", "", 1, 50, 25)
	one.Losses, one.More = curve{{10, 2.5}}, []more{{"held", score{CER: 3}}}
	if err := r.add(one); err != nil {
		t.Fatal(err)
	}
	for i, tail := range []string{`{"task":"wor`, "", "\n"} { // cut, and as an editor leaves it
		text := strings.TrimSuffix(read(t, path), "\n") + "\n"
		if tail != "\n" {
			text = strings.TrimSuffix(text+tail, "\n")
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err = openResults(path); err != nil {
			t.Fatal(err)
		}
		if err := r.add(made("words", "v02", "base", "", uint64(i), 60, 20)); err != nil {
			t.Fatal(err)
		}
		if r, err = openResults(path); err != nil || len(r.list) != 2+i || strings.Count(read(t, path), "\n") != 2+i {
			t.Errorf("%q: %d results, %v:\n%s", tail, len(r.list), err, read(t, path))
		}
	}
	if diff := cmp.Diff(one, r.list[0], cmp.AllowUnexported(result{}, key{}, score{}, more{})); diff != "" {
		t.Errorf("written (-) and read (+):\n%s", diff)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = openResults(path)
	testkit.MustFail(t, err, "results.jsonl:1", "task or recipe is missing")
}

// The page of results in the repository is what its results come to, behind the text above.
func TestResultsPage(t *testing.T) {
	done, err := openResults("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSheet("recipes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := markdown(tables(summarize(done.list, s.names())))
	page := read(t, "results.md")
	_, got, _ := strings.Cut(page, "\n## ")
	if diff := cmp.Diff(want, "## "+got); diff != "" {
		t.Errorf("results.md isn't what bench/learn.sh --results bench/learn/results.jsonl prints (-):\n%s", diff)
	}
}
