package checkpoint

import (
	"bytes"
	"os"
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

// mustSave saves a checkpoint of step, without syncs to be quick, and returns its path.
func mustSave(t testing.TB, dir string, step, width int) string {
	t.Helper()
	path, err := save(quick(), dir, step, content(step, width))
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

func second[T any](_ T, err error) error { return err }

func contains(text, part string) bool { return strings.Contains(text, part) }

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
