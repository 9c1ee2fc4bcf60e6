package checkpoint

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/testkit"
)

// TestMain lets the test binary play the process that is killed while it saves.
func TestMain(m *testing.M) {
	if role := os.Getenv("CHECKPOINT_TEST_CHILD"); role != "" {
		os.Exit(child(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

type settings struct {
	DModel     int      `json:"d_model"`
	Vocabulary []string `json:"vocabulary"`
}

type state struct {
	Settings settings `json:"settings"`
	Best     float64  `json:"best"`
}

// tensors makes a model and its moments; every number tells the step.
func tensors(step, width int) (model, optimizer []Tensor) {
	make1 := func(name string, seed int, shape ...int) Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return safetensors.Floats(name, shape, testkit.Normal[float32](uint64(1000*step+seed), n))
	}
	return []Tensor{make1("encoder.weight", 1, 3, width), make1("encoder.bias", 2, width)},
		[]Tensor{make1("m.encoder.weight", 3, 3, width), make1("m.encoder.bias", 4, width), make1("v.encoder.weight", 5, 3, width), make1("v.encoder.bias", 6, width)}
}

func theState(step int) state {
	return state{Settings: settings{128, []string{"<blank>", "क", "<sos/eos>"}}, Best: 1 / float64(step+1)}
}

// content is what a checkpoint of step holds in these tests.
func content(step, width int) Content {
	model, optimizer := tensors(step, width)
	return Content{Model: model, Optimizer: optimizer, State: theState(step)}
}

func mustSave(t testing.TB, dir string, step, width int) string {
	t.Helper()
	path, err := Save(dir, step, content(step, width))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// mustHold checks that a checkpoint has, bit for bit, what was saved at step.
func mustHold(t testing.TB, c *Checkpoint, step, width int) {
	t.Helper()
	if c == nil || c.Step != step {
		t.Fatalf("%+v, want the checkpoint of step %d", c, step)
	}
	model, optimizer := tensors(step, width)
	gotModel, gotOptimizer := blank(model), blank(optimizer)
	if err := c.LoadModel(gotModel); err != nil {
		t.Fatal(err)
	}
	if err := c.LoadOptimizer(gotOptimizer); err != nil {
		t.Fatal(err)
	}
	for i, w := range slices.Concat(model, optimizer) {
		if got := slices.Concat(gotModel, gotOptimizer)[i]; !bytes.Equal(values(t, got), values(t, w)) {
			t.Fatalf("step %d: %s isn't what was saved", step, w.Name)
		}
	}
	var got state
	if err := c.State(&got); err != nil || got.Best != theState(step).Best || !slices.Equal(got.Settings.Vocabulary, theState(step).Settings.Vocabulary) {
		t.Fatalf("step %d: state %+v, %v", step, got, err)
	}
}

// blank is memory to load list into.
func blank(list []Tensor) []Tensor {
	out := slices.Clone(list)
	for i, t := range list {
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		out[i] = safetensors.Floats(t.Name, t.Shape, make([]float32, n))
	}
	return out
}

// values is what a tensor holds.
func values(t testing.TB, tensor Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tensor.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same says whether two lists of tensors hold the same values.
func same(t testing.TB, a, b []Tensor) bool {
	t.Helper()
	return slices.EqualFunc(a, b, func(x, y Tensor) bool { return bytes.Equal(values(t, x), values(t, y)) })
}

func TestSaveThenLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "first")
	if c, damaged, err := Latest(dir); c != nil || damaged != nil || err != nil {
		t.Fatal("a folder that isn't there:", c, damaged, err)
	}
	for _, step := range []int{5, 1200, 30} {
		if path := mustSave(t, dir, step, 7); path != filepath.Join(dir, Name(step)) {
			t.Error(path)
		}
	}
	list, err := List(dir)
	if err != nil || len(list) != 3 || list[0].Step != 5 || list[2].Path != filepath.Join(dir, "step-00001200") {
		t.Error(list, err)
	}
	c, damaged, err := Latest(dir)
	if err != nil || len(damaged) != 0 {
		t.Fatal(damaged, err)
	}
	mustHold(t, c, 1200, 7)
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

func TestExchangeInSteps(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 4, 3)
	newer := mustSave(t, t.TempDir(), 4, 5)
	temp := tempName(dir, 4)
	if err := os.Rename(newer, temp); err != nil {
		t.Fatal(err)
	}
	if err := exchangeInSteps(temp, filepath.Join(dir, Name(4))); err != nil {
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

func second[T any](_ T, err error) error { return err }

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
	if entries, _ := os.ReadDir(dir); len(entries) != 5 {
		t.Error("Clean took what isn't its own:", entries)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for step := range 8 {
		mustSave(t, dir, step, 3)
	}
	steps := func() (s []int) {
		list, err := List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			s = append(s, e.Step)
		}
		return s
	}
	if _, err := Prune(dir, Keep{}); err == nil || len(steps()) != 8 {
		t.Error("keeping none was not refused")
	}
	removed, err := Prune(dir, Keep{Last: 3, Also: []string{filepath.Join("elsewhere", Name(2)), "", Name(3)}})
	if err != nil || !slices.Equal(steps(), []int{2, 3, 5, 6, 7}) || len(removed) != 3 || removed[0] != filepath.Join(dir, Name(0)) {
		t.Error(steps(), removed, err)
	}
	// The newest is cut short: it stays to be looked at, and the last 2 whole ones stay beside it.
	if err := os.Truncate(filepath.Join(dir, Name(7), ModelFile), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(dir, Keep{Last: 2}); err != nil || !slices.Equal(steps(), []int{5, 6, 7}) {
		t.Error(steps(), err)
	}
	if left, err := Leftovers(dir); len(left) != 0 || err != nil {
		t.Error(left, err)
	}
}

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
		"3 tensors disagree",
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

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// flip changes one bit of a file.
func flip(t testing.TB, path string, at int, bit byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= bit
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}
