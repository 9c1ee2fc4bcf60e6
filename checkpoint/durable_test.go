package checkpoint

import (
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
