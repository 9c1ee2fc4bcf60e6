package simulated

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Builds at the same time and later give the same files, and a changed kernel gives another library.
func TestBuild(t *testing.T) {
	source := filepath.Join(t.TempDir(), "twice.cu")
	write := func(factor string) {
		text := "#include \"card.cuh\"\n#define KERNEL(n, T) extern \"C\" __global__ void twice_##n(T* x) { x[threadIdx.x] *= " + factor +
			"; }\nKERNEL(f32, float)\nKERNEL(i32, int)\n"
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("2")
	var at [2]Libraries
	var wait sync.WaitGroup
	for i := range at {
		wait.Go(func() { at[i] = Build(t, Options{Kernels: []string{source}}) }) // at the same time
	}
	wait.Wait()
	again := Build(t, Options{Kernels: []string{source}})
	first := at[0]
	if first != at[1] || first != again {
		t.Errorf("built three times: %v, %v and then %v", at[0], at[1], again)
	}
	write("3")
	if third := Build(t, Options{Kernels: []string{source}}); third.Driver == first.Driver {
		t.Errorf("a changed kernel is not in %s", third.Driver)
	}
	b, why := newBuilder()
	if why != "" {
		t.Fatal(why)
	}
	names, err := b.kernels(source, append(slices.Clone(flags), b.includes()...))
	if err != nil || strings.Join(names, " ") != "twice_f32 twice_i32" {
		t.Errorf("kernels %v, %v; want those that the macro makes", names, err)
	}
}

// What doesn't compile, or has no kernel, is an error that says so.
func TestBuildRefuses(t *testing.T) {
	b, why := newBuilder()
	if why != "" {
		Build(t, Options{}) // skips, or fails where it must not
	}
	for text, want := range map[string]string{
		"int none;\n": "has no kernel",
		"extern \"C\" __global__ void f(int* x) { x[0] = undeclared; }\n": "undeclared",
	} {
		source := filepath.Join(t.TempDir(), "bad.cu")
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := b.libraries(Options{Kernels: []string{source}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q builds with %v, want an error with %q", text, err, want)
		}
	}
}

// said is a test that notes how it ended.
type said struct {
	testing.TB
	skipped, failed string
}

func (s *said) Helper() {}
func (s *said) Skipf(format string, args ...any) {
	s.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (s *said) Fatalf(format string, args ...any) {
	s.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// Without a compiler a test is skipped, and says so; under CI it fails.
func TestBuildWithoutCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, ci := range []string{"", "true"} {
		t.Setenv("CI", ci)
		s := &said{TB: t}
		var wait sync.WaitGroup
		wait.Go(func() { Build(s, Options{}) })
		wait.Wait()
		const want = "no g++ in the path"
		if strings.Contains(s.skipped, want) != (ci == "") || strings.Contains(s.failed, want) != (ci != "") {
			t.Errorf("CI=%q: skipped %q, failed %q", ci, s.skipped, s.failed)
		}
	}
}
