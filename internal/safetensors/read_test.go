package safetensors

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testdata/python.safetensors was written by Python's safetensors.torch.save_file.
func TestReadsPythonsFile(t *testing.T) {
	f, err := Open("testdata/python.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := []string{"bf16", "bool", "empty", "f16", "f32", "f64", "i16", "i32", "i64", "i8", "scalar", "u16", "u32", "u8", "कोंकणी"}
	if diff := cmp.Diff(names, f.Names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"made by": "Python, safetensors.torch", "sign": `"<&>`}, f.Metadata()); diff != "" {
		t.Error(diff)
	}
	inf := float32(math.Inf(1))
	for name, want := range map[string][]float32{
		"f32":    {1.5, -2, 3.25, 0, inf, 1e-40},
		"f64":    {0.1, -inf}, // -1e300 is beyond float32
		"f16":    {1, -0.5, 1.0 / (1 << 24), 65504, -inf, 6.103515625e-05},
		"bf16":   {1, -3},
		"scalar": {4.5},
		"empty":  {},
		"कोंकणी": {2},
	} {
		got, shape, err := f.Floats(name)
		info, _ := f.Info(name)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(shape, info.Shape) || info.Len() != len(want) {
			t.Errorf("%s: %v %v %v, want %v", name, got, shape, err, want)
		}
	}
	for name, want := range map[string][]int64{
		"i64": {1 << 62, -5}, "i32": {7, -8}, "i16": {-300, 300}, "i8": {-3},
		"u8": {200, 0, 1}, "u16": {65535}, "u32": {4000000000}, "bool": {1, 0},
	} {
		if got, _, err := f.Ints(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, want)
		}
	}
	if got, _, err := f.Float64s("f64"); err != nil || !slices.Equal(got, []float64{0.1, -1e300}) {
		t.Errorf("f64: %v %v", got, err)
	}
	if got, _, err := f.Float64s("f16"); err != nil || got[3] != 65504 {
		t.Errorf("f16 as float64: %v %v", got, err)
	}
	if info, _ := f.Info("scalar"); len(info.Shape) != 0 {
		t.Errorf("scalar: shape %v", info.Shape)
	}
	if info, _ := f.Info("empty"); !slices.Equal(info.Shape, []int{0, 3}) {
		t.Errorf("empty: shape %v", info.Shape)
	}
}

// What the caller does with a description doesn't change the file's.
func TestDescriptionsAreCopies(t *testing.T) {
	f, err := Open("testdata/python.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Info("f32")
	want := slices.Clone(info.Shape)
	info.Shape[0], f.Metadata()["made by"] = 99, "me"
	if again, ok := f.Info("f32"); !ok || !slices.Equal(again.Shape, want) || f.Metadata()["made by"] == "me" {
		t.Errorf("%v %v", again.Shape, f.Metadata())
	}
	if _, ok := f.Info("f33"); ok {
		t.Error("a tensor that isn't there")
	}
}

func TestWrongReadsAreRefused(t *testing.T) {
	f, err := Open("testdata/python.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dst := []float32{9, 9}
	_, _, asInt := f.Ints("f32")
	_, _, asFloat := f.Floats("u8")
	_, _, asFloat64 := f.Float64s("bool")
	values, _, unknown := f.Floats("f34")
	if values != nil {
		t.Errorf("values of no tensor: %v", values)
	}
	for what, err := range map[string]error{
		"no tensor":         f.ReadFloat32("f33", dst),
		"is I64":            f.ReadFloat32("i64", dst),
		"6 elements":        f.ReadFloat32("f32", dst),
		"is F32, which can": asInt,
		"is U8, which can":  asFloat,
		"is BOOL, which ca": asFloat64,
		`no tensor "f34"`:   unknown,
	} {
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "python.safetensors") {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
	if dst[0] != 9 || dst[1] != 9 {
		t.Errorf("a refused read wrote into the destination: %v", dst)
	}
}
