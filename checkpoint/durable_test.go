package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// volatile is a disk that knows what a power cut would still lose.
type volatile struct {
	osDisk
	t       *testing.T
	files   map[string]bool // written since their last sync
	folders map[string]bool // with names that are not synced
	syncs   int
}

func (d *volatile) Mkdir(path string) error {
	d.folders[filepath.Dir(path)] = true
	return d.osDisk.Mkdir(path)
}

func (d *volatile) Create(path string) (file, error) {
	d.folders[filepath.Dir(path)], d.files[path] = true, true
	f, err := d.osDisk.Create(path)
	return &volatileFile{f, d, path}, err
}

func (d *volatile) SyncDir(path string) error {
	d.syncs++
	delete(d.folders, path)
	return d.osDisk.SyncDir(path)
}

// Replace may only be asked for once all that lies in temp is on the disk: the name must not get there first.
func (d *volatile) Replace(temp, final string) error {
	for path := range d.files {
		if strings.HasPrefix(path, temp) {
			d.t.Errorf("%s gets its name before %s is synced", final, path)
		}
	}
	if d.folders[temp] {
		d.t.Errorf("%s gets its name before the names in it are synced", final)
	}
	d.folders[filepath.Dir(final)] = true
	return d.osDisk.Replace(temp, final)
}

// Remove may only be asked for once what replaces the file's folder has its name on the disk.
func (d *volatile) Remove(path string) error {
	if d.folders[filepath.Dir(path)] || d.folders[filepath.Dir(filepath.Dir(path))] {
		d.t.Errorf("%s is removed before what replaces it is synced", path)
	}
	return d.osDisk.Remove(path)
}

type volatileFile struct {
	file
	d    *volatile
	path string
}

func (f *volatileFile) Write(b []byte) (int, error) {
	f.d.files[f.path] = true
	return f.file.Write(b)
}

func (f *volatileFile) Sync() error {
	delete(f.d.files, f.path)
	return f.file.Sync()
}

// A power cut after Save loses nothing of it, and one before its end nothing of what was there: the new folder's
// parents, however many are made, the files, and their names are synced in the order that this needs.
func TestSavedIsDurable(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "runs", "deep", "run")
	model, optimizer := tensors(2, 5)
	for i, what := range []string{"in a new folder", "in place of one of the same step"} {
		d := &volatile{t: t, files: map[string]bool{}, folders: map[string]bool{}}
		path, err := save(d, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.files)+len(d.folders) > 0 {
			t.Errorf("%s: not synced at the end: files %v, names in %v", what, d.files, d.folders)
		}
		if made := 3 * (1 - i); d.syncs != made+2 { // each new folder's parent; the names of the files; that of the checkpoint
			t.Errorf("%s: %d folders synced, want %d", what, d.syncs, made+2)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: the folder holds %v, want %s alone (%v)", what, entries, path, err)
		}
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
