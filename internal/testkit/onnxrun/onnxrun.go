// Package onnxrun runs ONNX models with PyPI's onnx and onnxruntime, in tests. The environment's KONKANITRAIN_ONNX
// names a Python that has both.
package onnxrun

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed run.py
var script []byte

// Variable is the name of the environment variable that names a Python with onnx, onnxruntime and sherpa-onnx.
const Variable = "KONKANITRAIN_ONNX"

// Array is a tensor as NumPy has it.
type Array struct {
	Type  string `json:"type"` // "<f4", "<i8"
	Shape []int  `json:"shape"`
	Data  []byte `json:"data"` // little-endian, row by row
}

// Floats is an Array of float32.
func Floats(shape []int, data []float32) Array {
	b, _ := binary.Append([]byte{}, binary.LittleEndian, data) // of nothing it is no null
	return Array{"<f4", shape, b}
}

// Ints is an Array of int64.
func Ints(shape []int, data ...int64) Array {
	b, _ := binary.Append([]byte{}, binary.LittleEndian, data) // of nothing it is no null
	return Array{"<i8", shape, b}
}

// Float32s are the elements of an Array of that type.
func (a Array) Float32s() []float32 { return elements[float32](a) }

// Int64s are the elements of an Array of that type.
func (a Array) Int64s() []int64 { return elements[int64](a) }

func elements[T float32 | int64](a Array) []T {
	var one T
	list := make([]T, len(a.Data)/binary.Size(one))
	_, _ = binary.Decode(a.Data, binary.LittleEndian, list)
	return list
}

// Job is a model and what to run it on.
type Job struct {
	Name   string             // for messages
	Model  []byte             // the file
	Inside []string           // values inside of the graph, of float32, to get beside its outputs
	Runs   []map[string]Array // inputs by name
}

// Result is what came of a Job. The model has passed onnx's checker and its inference of shapes.
type Result struct {
	Error    string              `json:"error"`
	Runs     []map[string]Array  `json:"runs"`   // outputs by name
	Shapes   map[string][]string `json:"shapes"` // of the outputs, as inferred
	Metadata map[string]string   `json:"metadata"`
}

// Run runs jobs in one process, and ends the test where that can't be done. A job's error is in its result.
func Run(t testing.TB, jobs []Job) []Result {
	t.Helper()
	type written struct {
		Model  string             `json:"model"`
		Inside []string           `json:"inside"`
		Runs   []map[string]Array `json:"runs"`
	}
	dir := t.TempDir()
	var list []written
	for i, j := range jobs {
		path := filepath.Join(dir, fmt.Sprintf("%d.onnx", i))
		if err := os.WriteFile(path, j.Model, 0o666); err != nil {
			t.Fatal(err)
		}
		list = append(list, written{path, j.Inside, j.Runs})
	}
	var results []Result
	Python(t, Variable, script, list, &results)
	if len(results) != len(jobs) {
		t.Fatalf("%d results of %d models", len(results), len(jobs))
	}
	return results
}

// Python runs a script on in, as JSON, by the Python that an environment variable names, and reads the answer into out.
func Python(t testing.TB, variable string, script []byte, in, out any) {
	t.Helper()
	python := Need(t, variable, "a Python that has what the script imports, as .ci/run installs it")
	path := filepath.Join(t.TempDir(), "script.py")
	question, err := json.Marshal(in)
	if err == nil {
		err = os.WriteFile(path, script, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, path)
	cmd.Stdin = bytes.NewReader(question)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	answer, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, complaint.String())
	}
}

// Need is the value of an environment variable, which names what. Without it the test ends.
func Need(t testing.TB, variable, what string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("%s is not set: it names %s", variable, what)
	}
	return value
}
