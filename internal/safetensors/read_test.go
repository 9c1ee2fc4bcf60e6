package safetensors

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// floats reads a tensor of floats, and gives it with its shape.
func floats(f *File, name string) ([]float32, []int, error) {
	info, err := f.info(name)
	if err != nil {
		return nil, nil, err
	}
	dst := make([]float32, info.Len())
	return dst, info.Shape, f.Load(Floats(name, info.Shape, dst))
}

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
		got, shape, err := floats(f, name)
		info, _ := f.Info(name)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(shape, info.Shape) || info.Len() != len(want) {
			t.Errorf("%s: %v %v %v, want %v", name, got, shape, err, want)
		}
	}
	for name, want := range map[string]Info{
		"i64": {I64, []int{2}, 16, 0}, "i32": {I32, []int{2, 1}, 8, 0}, "i16": {I16, []int{2}, 4, 0}, "i8": {I8, []int{1}, 1, 0},
		"u8": {U8, []int{3}, 3, 0}, "u16": {U16, []int{1}, 2, 0}, "u32": {U32, []int{1}, 4, 0}, "bool": {Bool, []int{2}, 2, 0},
	} {
		got, ok := f.Info(name)
		got.offset = 0
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Info{})); !ok || diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
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
	for what, err := range map[string]error{
		`no tensor "f33"`:     f.Load(Floats("f33", []int{2}, dst)),
		"is I64, which can":   f.Load(Floats("i64", []int{2}, dst)),
		"is BOOL, which can":  f.Load(Floats("bool", []int{2}, dst)),
		"the destination [2]": f.Load(Floats("f32", []int{2}, dst)),
	} {
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "python.safetensors") {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
	if dst[0] != 9 || dst[1] != 9 {
		t.Errorf("a refused read wrote into the destination: %v", dst)
	}
}
