package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each change of a module gets the verdict that its tests deserve, and no file is touched.
func TestEveryVerdict(t *testing.T) {
	t.Parallel()
	dir := writeModule(t, nil)
	out, r := mutate(t, dir, "--count=100")
	if diff := cmp.Diff(moduleVerdicts, verdicts(r)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	for _, c := range r.Changes {
		wantTime := c.Text == "i += 1 -> i -= 1" || c.Text == "drop i += 1"
		if c.TimedOut != wantTime {
			t.Errorf("%s: caught by time: %v, want %v", c.ID, c.TimedOut, wantTime)
		}
		if c.Function == "Untested" && c.By != "high TestCount" {
			t.Errorf("%s was caught by %q, want high TestCount", c.ID, c.By)
		}
	}
	if r.Caught != 8 || r.Survived != 2 || r.NotCompiling != 1 || r.TimedOut != 2 || r.Score != 80 {
		t.Errorf("caught %d (%d by time), survived %d, not compiling %d, score %v; want 8 (2), 2, 1, 80",
			r.Caught, r.TimedOut, r.Survived, r.NotCompiling, r.Score)
	}
	for _, want := range []string{
		"\nlow/low.go:4  boundary\n-\tif a > b {\n+\tif a >= b {\nlow/low.go Larger: a > b -> a >= b\n",
		"caught 8 of 10 changes: 80.0 %",
		"100 changes were asked for; there are no more",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output has no %q:\n%s", want, out)
		}
	}
	if diff := cmp.Diff(module, contents(t, dir)); diff != "" {
		t.Errorf("the module's files were touched (-want +got):\n%s", diff)
	}
}

// Without importers, a package's own tests have to catch everything.
func TestOwnTestsAlone(t *testing.T) {
	t.Parallel()
	_, r := mutate(t, writeModule(t, nil), "--packages=./low", "--importers=false")
	want := map[string]string{}
	for id, verdict := range moduleVerdicts {
		if strings.HasPrefix(id, "low/") {
			want[id] = verdict
		}
		if strings.Contains(id, "Untested") {
			want[id] = survived
		}
	}
	if diff := cmp.Diff(want, verdicts(r)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// Code that no test reaches survives, but only where it compiles.
func TestPackageWithoutTests(t *testing.T) {
	t.Parallel()
	dir := writeModule(t, map[string]string{
		"bare/bare.go": "package bare\n\nfunc Joined(a, b string, n int) (string, int) { return a + b, n - 1 }\n",
	})
	_, r := mutate(t, dir, "--packages=./bare")
	want := map[string]string{
		"bare/bare.go Joined: a + b -> a - b": notCompiling,
		"bare/bare.go Joined: n - 1 -> n + 1": survived,
		"bare/bare.go Joined: n - 1 -> n - 2": survived,
	}
	if diff := cmp.Diff(want, verdicts(r)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

func TestSameSeedSameChanges(t *testing.T) {
	t.Parallel()
	dir := writeModule(t, nil)
	first := list(t, dir, "--seed=1", "--count=6")
	if len(first) != 6 {
		t.Fatalf("--count=6 lists %d changes", len(first))
	}
	if diff := cmp.Diff(first, list(t, dir, "--seed=1", "--count=6")); diff != "" {
		t.Errorf("the same seed gives other changes:\n%s", diff)
	}
	if diff := cmp.Diff(first, list(t, filepath.Join(dir, "low"), "--seed=1", "--count=6")); diff != "" {
		t.Errorf("the same command gives other changes in a folder of the module:\n%s", diff)
	}
	if diff := cmp.Diff(first[:3], list(t, dir, "--seed=1", "--count=3")); diff != "" {
		t.Errorf("fewer changes are others:\n%s", diff)
	}
	if slices.Equal(first, list(t, dir, "--seed=2", "--count=6")) {
		t.Error("seeds 1 and 2 give the same changes in the same order")
	}
}

// A change that doesn't compile is replaced by the next one, whatever the number of workers.
func TestNotCompilingIsReplaced(t *testing.T) {
	t.Parallel()
	dir := writeModule(t, nil)
	seed := "--seed=0"
	for s := '1'; !strings.Contains(list(t, dir, "--packages=./high", "--count=1", seed)[0], "text - text"); s++ {
		seed = "--seed=" + string(s)
	}
	want := list(t, dir, "--packages=./high", "--count=3", seed)
	for _, workers := range []string{"--workers=1", "--workers=2"} {
		_, r := mutate(t, dir, "--packages=./high", "--count=2", seed, workers)
		if r.Caught+r.Survived != 2 || r.NotCompiling != 1 {
			t.Errorf("%s: %d changes count and %d don't compile, want 2 and 1", workers, r.Caught+r.Survived, r.NotCompiling)
		}
		for i, c := range r.Changes {
			if !strings.HasSuffix(strings.TrimSpace(want[i]), c.Text) {
				t.Errorf("%s: change %d is %s, want %s", workers, i, c.Text, want[i])
			}
		}
	}
}

// A judged equivalent is left out, and an entry for what is gone is named.
func TestEquivalentsAreSkipped(t *testing.T) {
	t.Parallel()
	const judged, gone = "low/low.go Larger: a > b -> a >= b", "low/low.go Smaller: a < b -> a <= b"
	all := list(t, writeModule(t, nil), "--packages=./low")
	dir := writeModule(t, map[string]string{equivalentsFile: judged + "\n\tEqual numbers: one is as good as the other.\n" +
		"\n" + gone + "\n\tThere was such a function once.\n"})
	at := slices.Index(all, "low/low.go:4  boundary  a > b -> a >= b\n")
	if at < 0 {
		t.Fatalf("%s is not among\n%s", judged, all)
	}
	want := append(slices.Delete(all, at, at+1), "\n",
		"Entries of bench/mutate/equivalent.txt that match nothing any more: remove them, or judge anew\n", gone+"\n")
	if diff := cmp.Diff(want, list(t, dir, "--packages=./low")); diff != "" {
		t.Errorf("changes and stale entries (-want +got):\n%s", diff)
	}
	if _, r := mutate(t, dir, "--packages=./low", "--count=1"); !slices.Equal(r.Stale, []string{gone}) {
		t.Errorf("the report has stale entries %q", r.Stale)
	}
}

// What a run can't go on with is an error that says what to do.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		args  []string
		want  string
	}{
		"least": {map[string]string{"bare/bare.go": "package bare\n\nfunc Less(n int) int { return n - 1 }\n"},
			[]string{"--packages=./bare", "--least=95"}, "0.0 % of the changes were caught; --least asks for 95 %"},
		"argument":   {nil, []string{"./low"}, `unexpected argument "./low"`},
		"count":      {nil, []string{"--count=0"}, "--count is 0"},
		"workers":    {nil, []string{"--workers=3"}, "--workers is 3"},
		"timeout":    {nil, []string{"--timeout=0s"}, "--timeout is 0s"},
		"least NaN":  {nil, []string{"--least=NaN"}, "--least is NaN"},
		"no package": {nil, []string{"--packages=./none"}, "./none"},
		"foreign":    {nil, []string{"--packages=fmt"}, "fmt is no package of the module"},
		"no code":    {nil, []string{"--packages=./bench/..."}, "no production line"},
		"red": {map[string]string{"low/red_test.go": "package low\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Fail() }\n"},
			[]string{"--packages=./low"}, "the tests of tiny/low fail on the code as it is (TestRed)"},
		"none compiles": {map[string]string{"bare/bare.go": "package bare\n\nfunc Joined(a, b string) string { return a + b }\n"},
			[]string{"--packages=./bare"}, "none of 1 changes compiled"},
		"no reason": {map[string]string{equivalentsFile: "low/low.go Larger: a > b -> a >= b\n"}, nil, "equivalent.txt:1: no reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := run(t.Context(), writeModule(t, c.files), c.args, &out); err == nil {
				t.Errorf("no error, want one with %q\n%s", c.want, out.String())
			} else if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	err := run(t.Context(), t.TempDir(), nil, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "no Go module") {
		t.Errorf("outside of a module: error %v", err)
	}
}

// An interrupted run reports what it has and says that it is not all.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := writeModule(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	out := &canceler{after: "  caught  ", cancel: cancel}
	err := run(ctx, dir, []string{"--packages=./low", "--workers=1"}, out)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v, want one about the interruption", err)
	}
	if got := out.String(); !strings.Contains(got, "caught 1 of ") || strings.Contains(got, "there are no more") {
		t.Errorf("no report of the first change, or one that says it is all:\n%s", got)
	}
	if diff := cmp.Diff(module["low/low.go"], contents(t, dir)["low/low.go"]); diff != "" {
		t.Errorf("the interrupted run left a change behind:\n%s", diff)
	}
}

// canceler calls cancel when something has been written.
type canceler struct {
	bytes.Buffer
	after  string
	cancel func()
}

func (c *canceler) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.after) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}
