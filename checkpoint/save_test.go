package checkpoint

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/safetensors"
)

func TestSaveThenLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "first")
	if c, damaged, err := Latest(dir); c != nil || damaged != nil || err != nil {
		t.Fatal("a folder that isn't there:", c, damaged, err)
	}
	for _, step := range []int{5, 1200, 30, 99_999_999, 100_000_000} { // the last has a longer name
		if path := mustSave(t, dir, step, 7); path != filepath.Join(dir, Name(step)) {
			t.Error(path)
		}
	}
	list, err := List(dir)
	if err != nil || len(list) != 5 || list[0].Step != 5 || list[2].Path != filepath.Join(dir, "step-00001200") || list[4].Step != 100_000_000 {
		t.Error(list, err)
	}
	c, damaged, err := Latest(dir)
	if err != nil || len(damaged) != 0 {
		t.Fatal(damaged, err)
	}
	mustHold(t, c, 100_000_000, 7)
	if text, err := os.ReadFile(filepath.Join(c.Path, StateFile)); err != nil || !strings.Contains(string(text), `"<blank>"`) {
		t.Errorf("%s is not for people to read: %s", StateFile, text)
	}
}

func TestEqualRunsGiveEqualBytes(t *testing.T) {
	a, b := mustSave(t, t.TempDir(), 3, 9), mustSave(t, t.TempDir(), 3, 9)
	for _, name := range []string{ModelFile, OptimizerFile, StateFile} {
		x, errX := os.ReadFile(filepath.Join(a, name))
		y, errY := os.ReadFile(filepath.Join(b, name))
		if errX != nil || errY != nil || !slices.Equal(x, y) {
			t.Errorf("%s differs (%v, %v)", name, errX, errY)
		}
	}
}

// The size of each file is known before it is written.
func TestSizesAreKnownBefore(t *testing.T) {
	c := content(3, 9)
	c.Description = map[string]string{"note": "<क>"}
	m, _, need, err := prepare(3, c)
	if err != nil {
		t.Fatal(err)
	}
	path, err := Save(t.TempDir(), 3, c)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for name, want := range map[string]int64{
		ModelFile: m.Files[ModelFile].Bytes, OptimizerFile: m.Files[OptimizerFile].Bytes, StateFile: int64(len(m.encode())),
	} {
		stat, err := os.Stat(filepath.Join(path, name))
		if err != nil || stat.Size() != want {
			t.Errorf("%s has %d bytes, %d were foreseen (%v)", name, stat.Size(), want, err)
		}
		sum += want
	}
	if need < sum || need > sum+4*block {
		t.Errorf("%d bytes are needed for files of %d", need, sum)
	}
}

func TestSaveReplacesTheSameStep(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 4, 3)
	mustSave(t, dir, 4, 5)
	c, _, err := Latest(dir)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, c, 4, 5)
	if left, err := Leftovers(dir); len(left) != 0 || err != nil {
		t.Error(left, err)
	}
}

func TestSaveRefusesWhatCannotBeSaved(t *testing.T) {
	model, optimizer := tensors(1, 3)
	dir := t.TempDir()
	for what, err := range map[string]error{
		"steps begin":                 second(Save(dir, -1, Content{Model: model, Optimizer: optimizer})),
		"unsupported":                 second(Save(dir, 1, Content{Model: model, Optimizer: optimizer, State: func() {}})),
		"two tensors are":             second(Save(dir, 1, Content{Model: slices.Concat(model, model), Optimizer: optimizer})),
		"can't have the key \"step\"": second(Save(dir, 1, Content{Description: map[string]string{"step": "2"}})),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Error("something was written:", entries, err)
	}
}

// A save and a load may not hold a second copy of the tensors: what they allocate is small beside them.
func TestSaveAndLoadStream(t *testing.T) {
	dir := t.TempDir()
	model, optimizer := tensors(1, 1<<18) // 4 MiB and 8 MiB
	allocated := func(what string, f func() error) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := f()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > 1<<20 {
			t.Errorf("%s: %d bytes allocated for tensors of %d, %v", what, got, 12<<20, err)
		}
	}
	var c *Checkpoint
	allocated("Save", func() error {
		return second(Save(dir, 1, Content{Model: model, Optimizer: optimizer, State: theState(1)}))
	})
	allocated("Latest", func() (err error) { c, _, err = Latest(dir); return err })
	allocated("LoadModel", func() error { return c.LoadModel(model) })
	allocated("LoadOptimizer", func() error { return c.LoadOptimizer(optimizer) })
	mustHold(t, c, 1, 1<<18)
	if safe, err := safetensors.Open(filepath.Join(c.Path, ModelFile)); err != nil || safe.Metadata()["step"] != "1" {
		t.Error(err)
	} else {
		safe.Close()
	}
}
