package testkit

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"konkanitrain/internal/safetensors"
)

// Tensors is a file of tensors with what only tests read of one: doubles without loss, and integers.
type Tensors struct {
	*safetensors.File
	bytes map[string][]byte // by tensor
}

// OpenTensors reads a file as a whole. It is closed at the end of the test.
func OpenTensors(t testing.TB, path string) *Tensors {
	t.Helper()
	f, err := safetensors.Open(path) // which holds the header to the file
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := 8 + binary.LittleEndian.Uint64(whole)
	var header map[string]struct {
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(whole[8:data], &header); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	tensors := &Tensors{f, map[string][]byte{}}
	for _, name := range f.Names() {
		at := header[name].Offsets
		tensors.bytes[name] = whole[data+at[0] : data+at[1]]
	}
	return tensors
}

// Floats is a tensor of floats, rounded to float32, with its shape.
func (f *Tensors) Floats(name string) ([]float32, []int, error) {
	info, ok := f.Info(name)
	if !ok {
		return nil, nil, fmt.Errorf("no tensor %q", name)
	}
	v := make([]float32, info.Len())
	err := f.Load(safetensors.Floats(name, info.Shape, v))
	return v, info.Shape, err
}

// Float64s is a tensor of floats without loss, with its shape.
func (f *Tensors) Float64s(name string) ([]float64, []int, error) {
	if info, _ := f.Info(name); info.DType == safetensors.F64 {
		return elements(f, name, 8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }), info.Shape, nil
	}
	narrow, shape, err := f.Floats(name)
	v := make([]float64, len(narrow))
	for i, x := range narrow {
		v[i] = float64(x)
	}
	return v, shape, err
}

// Ints is a tensor of integers, with its shape.
func (f *Tensors) Ints(name string) ([]int64, []int, error) {
	info, _ := f.Info(name)
	switch info.DType {
	case safetensors.I64:
		return elements(f, name, 8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }), info.Shape, nil
	case safetensors.I16:
		return elements(f, name, 2, func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) }), info.Shape, nil
	}
	return nil, nil, fmt.Errorf("tensor %q is %q, no integers that are read here", name, info.DType)
}

// elements are those of a tensor, of so many bytes each.
func elements[T any](f *Tensors, name string, size int, of func(b []byte) T) (list []T) {
	for b := f.bytes[name]; len(b) > 0; b = b[size:] {
		list = append(list, of(b))
	}
	return list
}
