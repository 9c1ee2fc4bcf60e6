package simulated

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A second build finds what the first one made, and a changed kernel makes another library.
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
	first := Build(t, Options{Kernels: []string{source}})
	second := Build(t, Options{Kernels: []string{source}})
	if first != second {
		t.Errorf("built again: %v and then %v", first, second)
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
