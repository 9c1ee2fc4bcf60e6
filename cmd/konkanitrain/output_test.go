package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"konkanitrain/train"
)

// A file is whole, or what it was before; what is no regular file is written as it is.
func TestWriteWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	content := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if err := writeBytes("html", path, []byte("old")); err != nil || content(path) != "old" {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	half := func(w io.Writer) error {
		fmt.Fprint(w, strings.Repeat("new", 100_000))
		return broken
	}
	if err := writeWhole("html", path, half); !errors.Is(err, broken) || err.Error() != "html: broken" || content(path) != "old" {
		t.Errorf("%v, and the file has %q", err, content(path))
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := writeBytes("html", link, []byte("through")); err != nil || content(path) != "through" {
		t.Errorf("%v, and the file behind the link has %q", err, content(path))
	}
}

// Where a file can't be written is known before any work, and looking for that leaves nothing behind.
func TestCreatable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": "", "-": "", file: "", filepath.Join(dir, "new"): "", os.DevNull: "",
		dir:                              "html: " + dir + " is a folder: name a file",
		filepath.Join(dir, "no", "page"): "html: " + filepath.Join(dir, "no", "page") + " can't be written: ",
		filepath.Join(file, "page"):      "html: " + filepath.Join(file, "page") + " can't be written: ",
	} {
		err := creatable("html", path)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	if err := makeable("html", filepath.Join(dir, "made", "page")); err != nil || !isFolder(filepath.Join(dir, "made")) {
		t.Errorf("a folder that has to be made: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// A full disk or memory is no mistake in the settings, unless there are some beside.
func TestUsageErrors(t *testing.T) {
	full := fmt.Errorf("output: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	mistake := errors.New("a mistake")
	o := &options{command: "data"}
	for _, c := range []struct {
		err  error
		code int
	}{
		{full, exitFailed},
		{fmt.Errorf("x: %w", syscall.EDQUOT), exitFailed},
		{errors.Join(full, full), exitFailed},
		{errors.Join(full, mistake), exitUsage},
		{mistake, exitUsage},
		{fmt.Errorf("x: %w", syscall.EACCES), exitUsage},
		{fmt.Errorf("x: %w", train.ErrOutOfMemory), exitAgain},
	} {
		if got := report(io.Discard, o.usage(c.err)); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.code)
		}
	}
}
