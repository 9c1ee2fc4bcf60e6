package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/internal/safetensors"
)

// version1 is a checkpoint that an early version has written, and what is known of it: see its README.
const version1 = "testdata/version1"

// shapes is memory for all tensors of a file, sorted by name.
func shapes(t *testing.T, path string) (list []Tensor) {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		list = append(list, Tensor{Name: name, Shape: info.Shape})
	}
	return blank(list)
}

// digest is the SHA-256 of what tensors hold, one after the other.
func digest(t *testing.T, list []Tensor) string {
	t.Helper()
	sum := sha256.New()
	for _, tensor := range list {
		sum.Write(values(t, tensor))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// A checkpoint of the first layout opens, and its tensors load, bit for bit.
func TestOldCheckpointOpens(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(version1, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Checkpoint, Weights, Moments string }
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	c, damaged, err := Latest(version1)
	if err != nil || len(damaged) > 0 || c == nil || filepath.Base(c.Path) != want.Checkpoint || c.Step != 302 {
		t.Fatalf("%+v, %v, %v", c, damaged, err)
	}
	var state struct {
		Format   int
		Progress struct{ Updates int }
	}
	if err := json.Unmarshal(c.RawState(), &state); err != nil || state.Format != 1 || state.Progress.Updates != 302 {
		t.Errorf("state %+v, %v", state, err)
	}
	model, optimizer := shapes(t, filepath.Join(c.Path, ModelFile)), shapes(t, filepath.Join(c.Path, OptimizerFile))
	if err := c.LoadModel(model); err != nil || len(model) != 74 || digest(t, model) != want.Weights {
		t.Errorf("%d tensors of the model, %v", len(model), err)
	}
	if err := c.LoadOptimizer(optimizer); err != nil || len(optimizer) != 2*len(model) || digest(t, optimizer) != want.Moments {
		t.Errorf("%d tensors of the optimizer, %v", len(optimizer), err)
	}
	// Saved again it is the same, to the byte: the layout has not changed.
	path, err := Save(t.TempDir(), c.Step, Content{Model: model, Optimizer: optimizer, State: c.RawState()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		before, errBefore := os.ReadFile(filepath.Join(c.Path, name))
		after, errAfter := os.ReadFile(filepath.Join(path, name))
		if errBefore != nil || errAfter != nil || !bytes.Equal(before, after) {
			t.Errorf("%s is not what it was (%v, %v)", name, errBefore, errAfter)
		}
	}
}
