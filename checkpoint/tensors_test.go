package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/safetensors"
)

func TestLoadNamesEveryTensorThatDisagrees(t *testing.T) {
	dir := t.TempDir()
	c, err := Open(mustSave(t, dir, 1, 4))
	if err != nil {
		t.Fatal(err)
	}
	model, _ := tensors(1, 4)
	dst := blank(model)
	dst[0].Shape = []int{4, 3}
	dst[1].Name = "decoder.bias"
	err = c.LoadModel(dst)
	for _, want := range []string{
		"3 disagreeing tensors",
		"encoder.weight: [3 4] in the file, [4 3] in the model",
		"decoder.bias: missing in the file, [4] in the model",
		"encoder.bias: [4] in the file, not in the model",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in: %v", want, err)
		}
	}
	for what, dst := range map[string][]Tensor{
		"two of this name": slices.Concat(model, model),
		"no Load to take":  {{Name: "encoder.weight", Shape: []int{3, 4}}, model[1]},
	} {
		if err := c.LoadModel(dst); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
}

// No Load is called before all is known to agree: a checkpoint's weights have to be float32, and two networks can
// disagree about every tensor. After that a Load's error is the load's.
func TestLoadIsRefusedBeforeItBegins(t *testing.T) {
	python := filepath.Join("..", "internal", "safetensors", "testdata", "python.safetensors")
	dst := shapes(t, python)
	for i := range dst {
		dst[i].Load = func(io.Reader) error { t.Error("Load was called"); return nil }
	}
	err := load(python, dst, []safetensors.DType{safetensors.F32}, false)
	if err == nil || !strings.Contains(err.Error(), "f16: of type F16 in the file, and [F32] is read here") || strings.Contains(err.Error(), "  f32: ") {
		t.Error(err)
	}
	c, err := Open(mustSave(t, t.TempDir(), 1, 4))
	if err != nil {
		t.Fatal(err)
	}
	dst = nil
	for i := range 50 {
		dst = append(dst, Tensor{Name: fmt.Sprintf("t%02d", i), Shape: []int{1}})
	}
	for n, last := range map[int]string{38: "encoder.weight: [3 4] in the file, not in the model", 39: "and 1 more", 50: "and 12 more"} {
		err = c.LoadModel(dst[:n])
		var e *TensorsError
		if !errors.As(err, &e) || len(e.Problems) != n+2 { // those and the file's own two
			t.Fatalf("%d tensors: %v", n, err)
		}
		lines := strings.Split(err.Error(), "\n  ")
		if len(lines) != 1+min(n+2, 41) || lines[len(lines)-1] != last {
			t.Errorf("%d tensors: %v", n, err)
		}
	}
	own := errors.New("the device is gone")
	model, optimizer := tensors(1, 4)
	model[1].Load = func(r io.Reader) error { return own }
	optimizer[2].Load = func(r io.Reader) error { return nil }
	if err := c.LoadModel(model); !errors.Is(err, own) || !strings.Contains(err.Error(), "encoder.bias") {
		t.Error(err)
	}
	if err := c.LoadOptimizer(optimizer); err == nil || !strings.Contains(err.Error(), "not taken in") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(c.Path, ModelFile)); err != nil {
		t.Fatal(err)
	}
	if err := c.LoadModel(model); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
