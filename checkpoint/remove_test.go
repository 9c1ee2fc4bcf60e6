package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLeftoversAreNamedAndCleaned(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 3)
	left := tempName(dir, 2)
	if err := os.Mkdir(left, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, ModelFile), []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	// A step can't be below 0, and a temporary name is not that of a file.
	odd := filepath.Join(dir, "step--0000001", ModelFile)
	if err := errors.Join(os.Mkdir(filepath.Dir(odd), 0o777), os.WriteFile(odd, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tempName(dir, 7), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"step-2", "step-0000000x", "step-00000002.bak", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := List(dir); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if removed, err := Clean(dir); err != nil || !slices.Equal(removed, []string{left}) {
		t.Error(removed, err)
	}
	if removed, err := Clean(dir); err != nil || removed != nil {
		t.Error(removed, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 7 {
		t.Error("Clean took what isn't its own:", entries)
	}
}

// What bears a checkpoint's name and is none is not the run's to remove: a save refuses it, and it can be set aside.
func TestOthersThingsAreSetAside(t *testing.T) {
	dir := t.TempDir()
	folder, file := filepath.Join(dir, Name(2)), filepath.Join(dir, Name(3))
	if err := errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("mine"), 0o666),
		os.WriteFile(file, []byte("mine too"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for step, want := range map[int]string{2: "mine", 3: "mine too"} {
		model, optimizer := tensors(step, 5)
		if _, err := Save(dir, step, Content{Model: model, Optimizer: optimizer, State: theState(step)}); err == nil || !contains(err.Error(), "it is no checkpoint") {
			t.Fatalf("step %d: %v", step, err)
		}
		moved, err := SetAside(dir, step)
		if err != nil {
			t.Fatal(err)
		}
		path := moved
		if step == 2 {
			path = filepath.Join(path, "notes.txt")
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", path, text, err)
		}
		mustSave(t, dir, step, 5)
		if moved, err := SetAside(dir, step); moved != "" || err != nil {
			t.Errorf("the checkpoint itself is moved to %s (%v)", moved, err)
		}
	}
	// Nor do they go as old ones, or count among those to keep.
	stray := filepath.Join(dir, Name(1))
	if err := os.Mkdir(stray, 0o777); err != nil {
		t.Fatal(err)
	}
	removed, err := Prune(dir, Keep{Last: 1})
	if err != nil || len(removed) != 1 || filepath.Base(removed[0]) != Name(2) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := RemoveOthers(dir, file); err != nil {
		t.Error(err)
	}
	if left, err := Clean(dir); err != nil || len(left) > 0 {
		t.Errorf("removed %v, %v", left, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 { // two set aside, the stray folder, step 3
		t.Errorf("left are %v, %v", entries, err)
	}
}

// Of a folder only a checkpoint's own files are removed; one that holds more keeps the rest under another name. Another
// program's trainer.json makes no checkpoint of ours.
func TestOnlyOurFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	write := func(folder, name string) {
		t.Helper()
		path := filepath.Join(dir, folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("{}"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(pattern string) {
		t.Helper()
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
	for _, step := range []int{2, 3, 5} {
		mustSave(t, dir, step, 5)
	}
	write(Name(2), "errors.tsv")
	write(Name(3), "export/model")
	write(Name(4), StateFile)
	write(Name(4), "weights.bin")
	write(tempPrefix+"00000077", "notes")
	_, err := Prune(dir, Keep{Last: 1})
	if err == nil || strings.Count(err.Error(), "held files that are no checkpoint's") != 2 {
		t.Errorf("pruned: %v", err)
	}
	kept(Name(2) + "*.aside-*/errors.tsv")
	kept(Name(3) + "*.aside-*/export/model")
	kept(Name(4) + "/weights.bin")
	removed, err := Clean(dir)
	if err != nil || len(removed) != 1 || !strings.Contains(removed[0], "held files") {
		t.Errorf("cleaned: %v, %v", removed, err)
	}
	kept(Name(77) + ".aside-*/notes")
	if moved, err := SetAside(dir, 4); moved == "" || err != nil {
		t.Errorf("another program's folder is not moved: %v", err)
	}
	// What a link leads to stays as well.
	elsewhere := mustSave(t, t.TempDir(), 6, 5)
	if err := os.Symlink(elsewhere, filepath.Join(dir, Name(6))); err != nil {
		t.Fatal(err)
	}
	mustSave(t, dir, 7, 5)
	if _, err := Prune(dir, Keep{Last: 1}); err != nil {
		t.Error(err)
	}
	if _, err := Open(elsewhere); err != nil {
		t.Error(err)
	}
	if list, err := List(dir); err != nil || len(list) != 1 || list[0].Step != 7 {
		t.Errorf("%v, %v", list, err)
	}
}
