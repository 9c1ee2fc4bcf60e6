package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loadWeights opens a model and loads it.
func loadWeights(path string, dst []Tensor) error {
	m, err := OpenModel(path)
	if err != nil {
		return err
	}
	return m.LoadWeights(dst)
}

func TestLoadWeights(t *testing.T) {
	path := mustSave(t, t.TempDir(), 1, 4)
	want, _ := tensors(1, 4)
	bare := t.TempDir()
	copyFile(t, filepath.Join(path, ModelFile), filepath.Join(bare, ModelFile))
	for _, from := range []string{path, filepath.Join(path, ModelFile), bare} {
		got := blank(want)
		if err := loadWeights(from, got); err != nil || !same(t, got, want) {
			t.Errorf("from %s: %v", from, err)
		}
	}
	flip(t, filepath.Join(path, ModelFile), 200, 1)
	if err := loadWeights(path, blank(want)); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Error("weights of a damaged checkpoint:", err)
	}
	if err := loadWeights(filepath.Join(bare, "nothing"), blank(want)); err == nil {
		t.Error("weights from nowhere")
	}
	// The file of another program: half precision is converted, integers are not weights.
	python := filepath.Join("..", "internal", "safetensors", "testdata", "python.safetensors")
	err := loadWeights(python, blank([]Tensor{{Name: "f16", Shape: []int{6}}, {Name: "i64", Shape: []int{2}}}))
	for what, want := range map[string]bool{"\n  f16: ": false, "\n  i64: of type I64": true, "\n  bf16: [2] in the file, not in the model": true} {
		if err == nil || strings.Contains(err.Error(), what) != want {
			t.Errorf("%q in the message should be %v: %v", what, want, err)
		}
	}
}

// A model's file says of itself what its saver gave, alone as well as in its folder; the other files don't.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	c := content(3, 4)
	c.Description = map[string]string{"konkanitrain": `{"tokens": ["<blank>", "क"]}`, "note": ""}
	path, err := Save(dir, 3, c)
	if err != nil {
		t.Fatal(err)
	}
	lone := filepath.Join(t.TempDir(), "lone.safetensors")
	copyFile(t, filepath.Join(path, ModelFile), lone)
	want := map[string]string{"format": "pt", "step": "3", "konkanitrain": c.Description["konkanitrain"], "note": ""}
	for _, from := range []string{path, filepath.Join(path, ModelFile), lone} {
		got, err := Describe(from)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %q, %v", from, got, err)
		}
		m, err := OpenModel(from)
		if err != nil || !maps.Equal(m.Description(), want) {
			t.Fatalf("%s: %+v, %v", from, m, err)
		}
		m.Description()["note"] = "changed"
		if m.Description()["note"] != "" {
			t.Errorf("%s: its description can be changed", from)
		}
		file, whole := from, from == path
		if whole {
			file = filepath.Join(path, ModelFile)
		}
		if m.Path != file || (m.Checkpoint != nil) != whole || whole && m.Checkpoint.Step != 3 {
			t.Errorf("%s: %+v", from, m)
		}
	}
	if got, err := Describe(filepath.Join(path, OptimizerFile)); err != nil || !maps.Equal(got, map[string]string{"format": "pt", "step": "3"}) {
		t.Errorf("the optimizer's file: %q, %v", got, err)
	}
	if !maps.Equal(c.Description, map[string]string{"konkanitrain": want["konkanitrain"], "note": ""}) {
		t.Errorf("Save has changed the description it was given: %q", c.Description)
	}
	// Without a description the bytes are those of a file that never had one.
	got, err := Describe(mustSave(t, t.TempDir(), 3, 4))
	if err != nil || !maps.Equal(got, map[string]string{"format": "pt", "step": "3"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// What isn't a model is refused with a word on what it is.
func TestOpenModelRefuses(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 4)
	newest := mustSave(t, dir, 2, 4)
	garbage, empty, cut := filepath.Join(t.TempDir(), "garbage"), t.TempDir(), mustSave(t, t.TempDir(), 3, 4)
	if err := errors.Join(os.WriteFile(garbage, []byte("no safetensors file"), 0o666), os.Truncate(filepath.Join(cut, ModelFile), 20)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                          "is a folder of checkpoints: name one of them, such as " + newest,
		empty:                        "no such file",
		filepath.Join(empty, "none"): "no such file",
		garbage:                      "not a safetensors file: it begins with",
		cut:                          ModelFile,
	} {
		_, openErr := OpenModel(path)
		description, describeErr := Describe(path)
		for _, err := range []error{openErr, describeErr} {
			if err == nil || !strings.Contains(err.Error(), want) || description != nil {
				t.Errorf("%s: want an error with %q, got %v", path, want, err)
			}
		}
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is a folder of checkpoints: name one of them, such as "+newest) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, StateFile), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "its checksum") {
		t.Errorf("a damaged %s beside checkpoints: %v", StateFile, err)
	}
}

// A checkpoint that was opened can be handed around: what it says doesn't depend on its files any more.
func TestOpenedOnce(t *testing.T) {
	dir := t.TempDir()
	path := mustSave(t, dir, 2, 4)
	c, _, err := Latest(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(path, ModelFile))
	if sum := sha256.Sum256(data); err != nil || c.ModelSHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the model's checksum is %s (%v)", c.ModelSHA256, err)
	}
	flip(t, filepath.Join(path, StateFile), 30, 1)
	flip(t, filepath.Join(path, OptimizerFile), len(data), 1)
	model, _ := tensors(2, 4)
	dst := blank(model)
	if err := c.LoadModel(dst); err != nil || !same(t, dst, model) {
		t.Error(err)
	}
	var s state
	if err := c.State(&s); err != nil || s.Settings.DModel != 128 {
		t.Errorf("%+v, %v", s, err)
	}
	raw := c.RawState()
	clear(raw)
	if err := json.Unmarshal(c.RawState(), &s); err != nil {
		t.Error(err)
	}
	var other struct {
		Best float64 `json:"best"`
	}
	if err := c.State(&other); err == nil || !strings.Contains(err.Error(), `unknown field "settings"`) || !strings.Contains(err.Error(), StateFile) {
		t.Errorf("a state with keys that nobody knows: %v", err)
	}
}

// A part of a model can be loaded, and what the model has is known beforehand.
func TestLoadSome(t *testing.T) {
	path := mustSave(t, t.TempDir(), 1, 4)
	want, _ := tensors(1, 4)
	m, err := OpenModel(path)
	if err != nil {
		t.Fatal(err)
	}
	shapes := m.Shapes()
	for _, x := range want {
		if !slices.Equal(shapes[x.Name], x.Shape) {
			t.Errorf("%s is %v in the file, want %v", x.Name, shapes[x.Name], x.Shape)
		}
	}
	if len(shapes) != len(want) {
		t.Errorf("there are %d shapes, want %d", len(shapes), len(want))
	}
	got := blank(want[:1])
	if err := m.LoadWeights(got); err == nil {
		t.Error("a part was taken for the whole")
	}
	if err := m.LoadSome(got); err != nil || !same(t, got, want[:1]) {
		t.Errorf("a part: %v", err)
	}
	got[0].Name = "none"
	if err := m.LoadSome(got); err == nil || !strings.Contains(err.Error(), "none: missing in the file") {
		t.Errorf("what isn't there: %v", err)
	}
}
