package testkit

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder stands in for a test and keeps what is reported to it.
type recorder struct {
	testing.TB
	errors  []string
	skipped bool
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(s string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(s, a...)) }
func (r *recorder) Fatalf(s string, a ...any) { r.Errorf(s, a...); panic(r) }
func (r *recorder) Skipf(s string, a ...any)  { r.skipped = true; panic(r) }

func TestMeasures(t *testing.T) {
	nan, inf := float32(math.NaN()), math.Inf(1)
	for _, c := range []struct {
		got, want        []float32
		rel, abs, maxRel float64
	}{
		{[]float32{3, 4}, []float32{3, 4}, 0, 0, 0},
		{[]float32{3, 4}, []float32{0, 0}, 5, 4, 4},
		{[]float32{3, 5}, []float32{3, 4}, 0.2, 1, 0.25},
		{[]float32{}, []float32{}, 0, 0, 0},
		{[]float32{1}, []float32{1, 2}, inf, inf, inf},
		{[]float32{nan, 1}, []float32{1, 1}, inf, inf, inf},
		{[]float32{1, 1}, []float32{nan, 1}, inf, inf, inf},
		{[]float32{1}, []float32{float32(inf)}, inf, inf, inf},
		{[]float32{float32(inf)}, []float32{float32(inf)}, inf, inf, inf},
	} {
		if rel, abs, maxRel := RelErr(c.got, c.want), MaxAbs(c.got, c.want), MaxRel(c.got, c.want); rel != c.rel || abs != c.abs || maxRel != c.maxRel {
			t.Errorf("%v %v: %v %v %v, want %v %v %v", c.got, c.want, rel, abs, maxRel, c.rel, c.abs, c.maxRel)
		}
	}
}

func TestCloseReports(t *testing.T) {
	r := &recorder{}
	if !Close(r, "same", []float32{1, 2}, []float32{1, 2.5}, 0.5) || len(r.errors) != 0 {
		t.Error("within the tolerance:", r.errors)
	}
	for what, ok := range map[string]bool{
		"worst at [1]": Close(r, "x", []float32{1, 2}, []float32{1, 2.5}, 0.4),
		"worst at [0]": CloseRel(r, "x", []float64{math.NaN(), 2}, []float64{1, 2.5}, 1e9),
		"2 elements":   Close(r, "x", []float32{1, 2}, nil, 1e9),
	} {
		if ok || !strings.Contains(strings.Join(r.errors, "\n"), what) {
			t.Errorf("want a report with %q, got %q", what, r.errors)
		}
	}
}

func TestGradCheckTellsRightFromWrong(t *testing.T) {
	f := func(x []float64) float64 { return math.Sin(x[0])*x[1] + math.Exp(x[2]) }
	x := []float64{0.3, -1.2, 0.7}
	grad := []float64{math.Cos(0.3) * -1.2, math.Sin(0.3), math.Exp(0.7)}
	GradCheck(t, "smooth", f, x, grad, 1e-11) // rounding / h is about 2e-13
	GradCheck(t, "constant", func([]float64) float64 { return 3 }, x, make([]float64, 3), 0)
	for i := range grad {
		r := &recorder{}
		wrong := append([]float64(nil), grad...)
		wrong[i] *= 1.0001
		if GradCheck(r, "wrong", f, x, wrong, 1e-7); len(r.errors) == 0 {
			t.Errorf("a gradient with element %d wrong by 1e-4 passed", i)
		}
		wrong[i] = math.NaN()
		if GradCheck(r, "NaN", f, x, wrong, 1e9); len(r.errors) < directions {
			t.Error("a gradient of NaN passed")
		}
	}
}

func TestRandomIsTheSameEveryRun(t *testing.T) {
	if a, b := Normal[float32](1, 4), Normal[float32](1, 4); MaxAbs(a, b) != 0 || MaxAbs(a, Normal[float32](2, 4)) == 0 {
		t.Error(a, b)
	}
	for _, v := range Uniform[float64](3, 1000, -2, 5) {
		if v < -2 || v >= 5 {
			t.Fatal(v)
		}
	}
}

func TestSharedSkipsOrFails(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "repository")
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	try := func(ci string) (path string, r *recorder) {
		r = &recorder{}
		t.Setenv("CI", ci)
		defer func() { recover() }()
		return Shared(r), r
	}
	if _, r := try(""); !r.skipped {
		t.Error("not skipped without the folder", r.errors)
	}
	if _, r := try("true"); r.skipped || len(r.errors) != 1 {
		t.Error("not failed in CI without the folder", r.errors)
	}
	want := filepath.Join(dir, "shared")
	if err := os.Mkdir(want, 0o777); err != nil {
		t.Fatal(err)
	}
	if path, _ := try("true"); filepath.Base(path) != "shared" || filepath.Dir(path) != filepath.Dir(want) {
		t.Errorf("%q, want %q", path, want)
	}
}

func TestGoldenFilesAreReadWhole(t *testing.T) {
	list, err := filepath.Glob(filepath.Join(Shared(t), "reference", "golden", "*.safetensors"))
	if err != nil || len(list) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, path := range list {
		f := Golden(t, filepath.Base(path))
		for _, name := range f.Names() {
			_, _, errF := f.Float64s(name)
			_, _, errI := f.Ints(name)
			if (errF == nil) == (errI == nil) {
				t.Errorf("%s: %s: as floats %v, as ints %v", path, name, errF, errI)
			}
		}
	}
}
