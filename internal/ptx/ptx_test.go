package ptx

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file is stale where its source or anything below it has changed, where it is missing, and where it has no source.
func TestStale(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...string) {
		t.Helper()
		got, err := Stale(folder)
		if err != nil || !slices.EqualFunc(got, want, strings.Contains) {
			t.Fatalf("complaints are %q (%v), want %q", got, err, want)
		}
	}
	write("a.cu", "#include \"b.cuh\"\nkernel")
	write("b.cuh", "#pragma once\n#ifdef CUDASIM\n#include \"cudasim.h\"\n#endif\n  #include <c.cuh>\n")
	write("c.cuh", "#include \"b.cuh\"\nhelper")
	write("other.cuh", "nobody includes it")
	expect("a.cu has no a.ptx")

	compile := func() {
		t.Helper()
		sources, err := Sources(folder)
		if err != nil || len(sources) != 1 || len(sources[0].Headers) != 2 {
			t.Fatalf("sources are %v (%v), want one with two headers", sources, err)
		}
		write(sources[0].Output(), sources[0].File("//\n// Compiler\n\n.version 7.8\n\t// inline \n\tret;  \n"))
	}
	compile()
	expect()
	text, err := os.ReadFile(filepath.Join(folder, "a.ptx"))
	if lines := strings.SplitAfter(string(text), "\n"); err != nil || len(lines) != 4 || strings.Join(lines[1:], "") != ".version 7.8\n\tret;\n" {
		t.Errorf("the file is %q (%v), want its hash and what is no comment", text, err)
	}
	write("other.cuh", "still nobody")
	expect()
	for _, name := range []string{"c.cuh", "b.cuh", "a.cu"} {
		old, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(old)+"\n")
		expect("a.ptx begins with")
		compile()
		expect()
	}
	write("gone.ptx", "")
	expect("gone.ptx has no source")
}

// A kernel includes nothing from elsewhere.
func TestIncludesFromElsewhere(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.cu"), []byte("#include <cuda_fp16.h>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Stale(folder); err == nil || !strings.Contains(err.Error(), "a.cu includes cuda_fp16.h") {
		t.Errorf("the error is %v", err)
	}
}
