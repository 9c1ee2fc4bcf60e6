package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
)

// tiny is a network that learns nothing, quickly.
const tiny = "--d_model 16 --heads 2 --encoder_layers 1 --decoder_layers 0 --conv_kernel 3 --subsampling 2 --subsample_channels 4 --num_mels 20 " +
	"--freq_width 4 --batch_size 8 --grad_accum 1 --warmup_updates 10 --log_every 3 --num_epochs 2"

// trial is a folder in which learn is started, with the real program.
type trial struct {
	*testing.T
	options
}

// newTrial builds the program once.
func newTrial(t *testing.T) *trial {
	t.Helper()
	program := filepath.Join(t.TempDir(), "konkanitrain")
	if text, err := exec.Command("go", "build", "-o", program, "../../cmd/konkanitrain").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	o := options{corpora: corpora{examples: exampleWords}, tasks: []string{"words"}, seeds: []uint{1}, jobs: 2, program: program}
	return &trial{t, o}
}

// in is the trial in a new folder, with these recipes.
func (t *trial) in(recipes string) *trial {
	t.Helper()
	c := *t
	c.out = t.TempDir()
	c.page = filepath.Join(c.out, "page.html")
	c.write(recipes)
	return &c
}

func (t *trial) write(recipes string) {
	t.Helper()
	t.sheet = filepath.Join(t.out, "recipes.yaml")
	text := "base: {words: " + tiny + ", sentences: " + tiny + "}\nrecipes:\n" + recipes
	if err := os.WriteFile(t.sheet, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// start is learn to its end, and what it says.
func (t *trial) start(ctx context.Context) (string, error) {
	var said strings.Builder
	err := learn(ctx, t.options, &said)
	return said.String(), err
}

// done are the results, in the order of the file.
func (t *trial) done() []result {
	t.Helper()
	r, err := openResults(filepath.Join(t.out, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return r.list
}

// sorted are results in the order of their runs' names.
func sorted(list []result) []result {
	return slices.SortedFunc(slices.Values(list), func(a, b result) int { return strings.Compare(a.name(), b.name()) })
}

// timeless are results in the order of their names, without what depends on how busy the machine is.
func timeless(list []result) []result {
	list = sorted(list)
	for i := range list {
		list[i].CPU, list[i].Seconds = 0, 0
	}
	return list
}

func TestLearn(t *testing.T) {
	all := newTrial(t)
	for name, test := range map[string]func(*trial){
		"runs":        testRuns,
		"interrupted": testInterrupted,
		"failures":    testFailures,
		"sentences":   testFurtherSet,
	} {
		t.Run(name, func(t *testing.T) { test(&trial{t, all.options}) })
	}
}

// Every run is made once. One whose flags change is another run.
func testRuns(t *trial) {
	const base = "  - {name: base, what: as it is}\n"
	t = t.in(base + "  - {name: dropout, what: more dropout, flags: --dropout 0.5}\n")
	said, err := t.start(context.Background())
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	testkit.MustContain(t, said, "10 runs, 10 of them to be made", "(10 of 10)")
	list := sorted(t.done())
	if len(list) != 10 {
		t.Fatalf("%d results", len(list))
	}
	for _, r := range list {
		if r.Updates != 20 || r.CPU <= 0 || r.Seconds <= 0 || r.Workers != 1 || r.Weights != "newest weights" || len(r.Losses) != 7 || r.CERs != nil {
			t.Errorf("%+v", r)
		}
		files, err := os.ReadDir(filepath.Join(t.out, "runs", r.folder()))
		if err != nil || len(files) != 4 {
			t.Errorf("%s keeps %v, %v", r.name(), files, err)
		}
	}
	if list[0].Losses[0] == list[1].Losses[0] {
		t.Error("dropout changes nothing")
	}
	table := read(t, filepath.Join(t.out, "table.md"))
	testkit.MustContain(t, table, "| base | as it is |", "| dropout | more dropout |", "over base")
	testkit.MustContain(t, read(t, t.page), "10 runs of 2 recipes on 1 tasks")

	before := read(t, filepath.Join(t.out, "results.jsonl"))
	said, err = t.start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, said, "10 runs, 0 of them to be made")
	if read(t, filepath.Join(t.out, "results.jsonl")) != before {
		t.Error("the results have changed")
	}
	t.write(base + "  - {name: dropout, what: more dropout, flags: --dropout 0.6}\n")
	if said, err = t.start(context.Background()); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, said, "10 runs, 5 of them to be made")
	if n := len(latest(t.done())); n != 10 {
		t.Errorf("%d results count", n)
	}

	var alone strings.Builder
	o := options{sheet: t.sheet, results: filepath.Join(t.out, "results.jsonl"), page: filepath.Join(t.out, "again.html")}
	if err := reportAlone(context.Background(), o, &alone); err != nil {
		t.Fatal(err)
	}
	if alone.String() != read(t, filepath.Join(t.out, "table.md")) || read(t, o.page) != read(t, t.page) {
		t.Error("of the results alone another table or page is made")
	}
	o.results = filepath.Join(t.out, "none")
	testkit.MustFail(t, reportAlone(context.Background(), o, &alone), "--results", "none")
}

// logs is what all runs have said.
func (t *trial) logs() (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(t.out, "runs", "*", "*", "*", logFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text += read(t, f)
	}
	return text
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run that is interrupted goes on where it stopped, and comes to what the uninterrupted one comes to.
func testInterrupted(t *trial) {
	const recipes = "  - {name: long, what: many updates, flags: --num_epochs 20 --save_every 40}\n" // 200 updates
	straight := t.in(recipes)
	if said, err := straight.start(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	t = t.in(recipes)
	ctx, stop := context.WithCancel(context.Background())
	first := filepath.Join(t.out, "runs", key{Task: "words", Fold: "v01", Recipe: "long", Seed: 1}.folder())
	go func() {
		defer stop()
		for range 60_000 {
			if saved, _ := filepath.Glob(filepath.Join(first, "step-*")); len(saved) > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	said, err := t.start(ctx)
	testkit.MustFail(t, err, "stopped: ", "of 5 runs have ended")
	if text := t.logs(); !strings.Contains(text, "interrupted") { // where it ended first, the next one
		t.Fatalf("no run was interrupted:\n%s%s", text, said)
	}
	if said, err = t.start(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	testkit.MustContain(t, t.logs(), "resumed from ")
	if diff := cmp.Diff(timeless(straight.done()), timeless(t.done()), cmp.AllowUnexported(result{}, key{}, score{}, more{})); diff != "" {
		t.Errorf("uninterrupted (-) and interrupted (+):\n%s", diff)
	}
}

// A run that fails is said and counted, others go on, and it is tried again when it is started the next time.
func testFailures(t *trial) {
	t = t.in("  - {name: bad, what: no such thing, flags: --no_such_flag 3}\n  - {name: base, what: as it is}\n")
	for range 2 {
		said, err := t.start(context.Background())
		testkit.MustFail(t, err, "5 of ", "runs have failed")
		testkit.MustContain(t, said, "bad ", "FAILED: exit status 2", "no_such_flag")
		testkit.MustContain(t, read(t, filepath.Join(t.out, "table.md")), "| bad | no such thing |  |  |  | 0, 5 runs failed |")
		testkit.MustContain(t, read(t, t.page), "words, bad: exit status 2")
	}
	failed := 0
	for _, r := range latest(t.done()) {
		if r.Failed != "" {
			failed++
		}
	}
	if n := len(latest(t.done())); n != 10 || failed != 5 {
		t.Errorf("%d results count, %d of them failures", n, failed)
	}
}

// Further test sets are scored with the weights that the run was scored with itself: on the same set they get the same
// score. A run that wants all cores has them.
func testFurtherSet(t *trial) {
	t.spoken, t.tasks = spokenSentences(t), []string{"sentences"}
	text := read(t, filepath.Join(t.spoken, "synth", "test.jsonl"))
	for _, flags := range []string{"--average_last 2", "--save_every 3"} {
		t := t.in("  - {name: base, what: as it is, flags: " + flags + "}\n")
		jobs, err := t.all(&sheet{Base: map[string]string{"sentences": tiny}, Recipes: []recipe{{Name: "base", What: "x", Flags: flags}}})
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		if err := os.WriteFile(jobs[0].fold.more[0].manifest, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := newLearner(t.program, t.out)
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.run(context.Background(), jobs[0], 2)
		if err != nil || r.Failed != "" {
			t.Fatal(r, err)
		}
		if len(r.More) != 1 || r.More[0].score != r.score || r.CERs == nil || r.Workers != 2 {
			t.Errorf("%+v", r)
		}
	}
}

// What doesn't fit is said before anything is made.
func TestBadOptions(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho konkanitrain 1, revision 0123456789abcdef\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	good := options{program: program, jobs: 1, out: dir, sheet: "recipes.yaml", seeds: []uint{1}}
	for want, change := range map[string]func(*options){
		"no --program":                 func(o *options) { o.program = "" },
		"the program that trains":      func(o *options) { o.program = filepath.Join(dir, "none") },
		"--jobs is 0":                  func(o *options) { o.jobs = 0 },
		"the recipes":                  func(o *options) { o.sheet = "none.yaml" },
		`there is no task "speech"`:    func(o *options) { o.tasks = []string{"speech"} },
		`there is no recipe "nothing"`: func(o *options) { o.recipes = []string{"nothing"} },
		"--seeds":                      func(o *options) { o.seeds = nil },
		"no --recordings":              func(o *options) { o.tasks = []string{"sequences"} },
	} {
		o := good
		change(&o)
		testkit.MustFail(t, learn(context.Background(), o, &bytes.Buffer{}), want)
	}
}

// A folder with another run in it, or another program's, is begun anew; the same run goes on.
func TestPrepare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j := &job{key: key{Task: "words", Recipe: "base", Seed: 1}, plan: &plan{preset: "a: 1\n"}, dir: dir}
	id := identity{key: j.key, Program: "1", Workers: 1}
	left := filepath.Join(dir, "step-00000001")
	for _, c := range []struct {
		name   string
		change func()
		stays  bool
	}{
		{"a new one", func() {}, false},
		{"the same", func() {}, true},
		{"other flags", func() { j.Flags, id.Flags = "--a=1", "--a=1" }, false},
		{"another program", func() { id.Program = "2" }, false},
		{"other workers", func() { id.Workers = 2 }, false},
		{"the same again", func() {}, true},
		{"damaged", func() {
			if err := os.WriteFile(filepath.Join(dir, identityFile), []byte(`{"task":`), 0o666); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		c.change()
		now := id
		if err := j.prepare(&now); err != nil {
			t.Fatal(c.name, err)
		}
		if _, err := os.Stat(left); (err == nil) != c.stays {
			t.Errorf("%s: what was there stays: %v", c.name, err == nil)
		}
		if (now.Spent.Updates == 7) != c.stays {
			t.Errorf("%s: %+v was spent", c.name, now.Spent)
		}
		if err := os.MkdirAll(left, 0o777); err != nil {
			t.Fatal(err)
		}
		now.Spent = spent{CPU: 3, Updates: 7}
		if err := now.write(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRevision(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	for said, want := range map[string]string{
		"konkanitrain v1, revision 0123456789abcdef":           "0123456789ab",
		"konkanitrain v1, revision 0123456789abcdef, modified": "sha256 ",
		"konkanitrain development version":                     "sha256 ",
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho "+said+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		if got, err := revisionOf(program); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v", said, got, err)
		}
	}
	_, err := revisionOf(filepath.Join(t.TempDir(), "none"))
	testkit.MustFail(t, err, "none version")
}
