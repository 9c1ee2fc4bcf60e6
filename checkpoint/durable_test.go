package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// volatile knows what a power cut would still lose.
type volatile struct {
	t       *testing.T
	files   map[string]bool // written since their last sync
	folders map[string]bool // with names that are not synced
	syncs   int
}

// disk tells it of every operation.
func (v *volatile) disk() *faults {
	d := quick()
	d.before = func(o operation) error {
		v.note(o)
		return nil
	}
	return d
}

func (v *volatile) note(o operation) {
	switch o.what {
	case "mkdir":
		v.folders[filepath.Dir(o.path)] = true
	case "create":
		v.folders[filepath.Dir(o.path)], v.files[o.path] = true, true
	case "write":
		v.files[o.path] = true
	case "sync":
		delete(v.files, o.path)
	case "sync folder":
		v.syncs++
		delete(v.folders, o.path)
	case "replace": // once all that lies in the folder is on the disk: the name must not get there first
		for path := range v.files {
			if strings.HasPrefix(path, o.from) {
				v.t.Errorf("%s gets its name before %s is synced", o.path, path)
			}
		}
		if v.folders[o.from] {
			v.t.Errorf("%s gets its name before the names in it are synced", o.path)
		}
		v.folders[filepath.Dir(o.path)] = true
	case "remove": // once what replaces the file's folder has its name on the disk
		if v.folders[filepath.Dir(o.path)] || v.folders[filepath.Dir(filepath.Dir(o.path))] {
			v.t.Errorf("%s is removed before what replaces it is synced", o.path)
		}
	}
}

// A power cut after Save loses nothing of it, and one before its end nothing of what was there: the new folder's
// parents, however many are made, the files, and their names are synced in the order that this needs.
func TestSavedIsDurable(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "runs", "deep", "run")
	model, optimizer := tensors(2, 5)
	for i, what := range []string{"in a new folder", "in place of one of the same step"} {
		v := &volatile{t: t, files: map[string]bool{}, folders: map[string]bool{}}
		path, err := save(v.disk(), dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.files)+len(v.folders) > 0 {
			t.Errorf("%s: not synced at the end: files %v, names in %v", what, v.files, v.folders)
		}
		if made := 3 * (1 - i); v.syncs != made+2 { // each new folder's parent; the names of the files; that of the checkpoint
			t.Errorf("%s: %d folders synced, want %d", what, v.syncs, made+2)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: the folder holds %v, want %s alone (%v)", what, entries, path, err)
		}
	}
}
