package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"konkanitrain/internal/testkit"
)

// lines reads what is new; renewed counts how often all before was nothing.
func lines(t *testing.T, f *tail) (list []string, renewed int) {
	t.Helper()
	err := f.next(func() { renewed++ }, func(_ int64, text []byte) { list = append(list, string(text)) })
	if err != nil {
		t.Fatal(err)
	}
	return list, renewed
}

func TestTailReadsEachLineOnce(t *testing.T) {
	dir := t.TempDir()
	f := &tail{path: filepath.Join(dir, "x")}
	want := func(renewed int, want ...string) {
		t.Helper()
		got, n := lines(t, f)
		if !slices.Equal(got, want) || n != renewed {
			t.Errorf("%q, renewed %d; want %q, %d", got, n, want, renewed)
		}
	}
	want(0)
	add(t, dir, "x", "one\ntw")
	want(0, "one")
	want(0)
	add(t, dir, "x", "o\n\nthree\n")
	want(0, "two", "", "three")
	// Another file by that name, as when a run that goes on removes records: longer or not.
	write(t, dir, "y", "one\nother and longer than before\n")
	if err := os.Rename(filepath.Join(dir, "y"), filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	want(1, "one", "other and longer than before")
	// The same file, cut.
	if err := os.Truncate(f.path, 4); err != nil {
		t.Fatal(err)
	}
	want(1, "one")
	// The same file, written anew with as many bytes.
	write(t, dir, "x", "two\n")
	if err := os.Chtimes(f.path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want(1, "two")
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	want(1)
	want(0)
}

// Lines of any length come whole, up to a bound; longer ones are passed over, and what is behind them isn't.
func TestTailOfLongLines(t *testing.T) {
	dir := t.TempDir()
	long, tooLong := strings.Repeat("l", readBytes+17), strings.Repeat("t", 2*mostLine+5)
	write(t, dir, "x", "a\n"+long+"\n"+tooLong+"\nb\n"+tooLong)
	f := &tail{path: filepath.Join(dir, "x")}
	if got, _ := lines(t, f); !slices.Equal(got, []string{"a", long, "b"}) {
		t.Errorf("%d lines", len(got))
	}
	add(t, dir, "x", "\nc\n")
	got, renewed := lines(t, f)
	if renewed != 0 || len(got) == 0 || got[len(got)-1] != "c" {
		t.Errorf("%d lines, renewed %d", len(got), renewed)
	}
	at := f.at
	if _, renewed := lines(t, f); renewed != 0 || f.at != at {
		t.Error("it was read again")
	}
}

// Nobody waits for a pipe.
func TestTailOfWhatIsNoFile(t *testing.T) {
	f := &tail{path: t.TempDir()}
	testkit.MustFail(t, f.next(func() {}, func(int64, []byte) {}), "is no regular file")
}

func FuzzTail(f *testing.F) {
	f.Add("a\nbc\n\nd", uint8(2), uint8(5))
	f.Fuzz(func(t *testing.T, text string, one, two uint8) {
		dir := t.TempDir()
		at, then := min(int(one), len(text)), min(int(one)+int(two), len(text))
		r := &tail{path: filepath.Join(dir, "x")}
		var got []string
		for _, part := range []string{text[:at], text[at:then], text[then:]} {
			add(t, dir, "x", part)
			list, renewed := lines(t, r)
			if got = append(got, list...); renewed > 0 {
				t.Fatal("renewed")
			}
		}
		want := strings.Split(text, "\n")
		if want = want[:len(want)-1]; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
