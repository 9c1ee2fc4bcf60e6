package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExchangeInSteps(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 4, 3)
	newer := mustSave(t, t.TempDir(), 4, 5)
	temp := tempName(dir, 4)
	if err := os.Rename(newer, temp); err != nil {
		t.Fatal(err)
	}
	if err := exchangeInSteps(temp, filepath.Join(dir, Name(4)), os.Rename); err != nil {
		t.Fatal(err)
	}
	c, err := Open(filepath.Join(dir, Name(4)))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, c, 4, 5)
	if removed, err := Clean(dir); err != nil || len(removed) != 1 || removed[0] != temp {
		t.Error(removed, err)
	}
}

func TestMakeDir(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{top, filepath.Join(top, "a", "b"), filepath.Join(top, "a", "b", "c")} {
		if err := MakeDir(dir); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s is not there: %v", dir, err)
		}
	}
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "a")} {
		if err := MakeDir(dir); err == nil || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("MakeDir(%s): %v", dir, err)
		}
	}
}

// An exchange that can't be made leaves both where they were.
func TestExchangeInStepsFails(t *testing.T) {
	dir := t.TempDir()
	final := mustSave(t, dir, 4, 3)
	temp := tempName(dir, 4)
	if err := exchangeInSteps(temp, final, os.Rename); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing to put in its place: %v", err)
	}
	if _, err := Open(final); err != nil {
		t.Errorf("what was there: %v", err)
	}
	if err := os.Rename(final, temp); err != nil {
		t.Fatal(err)
	}
	if err := exchangeInSteps(temp, final, os.Rename); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing in its place: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(temp) {
		t.Errorf("left are %v, %v", entries, err)
	}
}
