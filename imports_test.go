// Package konkanitrain_test holds the repository's packages to the one direction in which they may import.
package konkanitrain_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport says, for each part of the repository, which other parts it may import. A package's part is the first
// element of its path: data/audio belongs to data. A part may always import itself.
var mayImport = map[string][]string{
	"internal":   {},
	"device":     {"internal"},
	"op":         {"internal", "device"},
	"engine":     {"internal", "device", "op"},
	"model":      {"internal", "device", "op"}, // not engine, and engine not model
	"data":       {"internal"},
	"checkpoint": {"internal"},
	"train":      {"internal", "device", "op", "engine", "model", "data", "checkpoint"},
	"cmd":        {"internal", "device", "op", "engine", "model", "data", "checkpoint", "train"},
	"bench":      {"internal", "device", "op", "engine", "model", "data", "checkpoint", "train"}, // programs, as in cmd
}

// testsMayImport is what tests may import beyond their part's rule.
var testsMayImport = map[string][]string{
	"configs": {"internal", "engine", "model", "train"}, // tests only: presets and what they promise
	"engine":  {"model"},                                // whole networks in planned memory
	".":       {},                                       // this file
}

// forbidden are packages that only some parts may import, with the reason.
var forbidden = []struct {
	path  string
	parts []string
	why   string
}{
	{"konkanitrain/internal/testkit", nil, "it is for tests"},
	{"gorgonia.org/gorgonia", []string{"op", "engine", "model", "train"}, "graphs are the core's business"},
	{"github.com/spf13/pflag", []string{"internal", "cmd", "bench"}, "flags are the program's business"},
}

const module = "konkanitrain"

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportOrder(t *testing.T) {
	for _, tags := range []string{"", "gpu"} {
		checkImports(t, list(t, tags))
	}
}

func checkImports(t *testing.T, packages []goPackage) {
	t.Helper()
	if len(packages) < 10 {
		t.Fatalf("go list names %d packages: not the whole repository", len(packages))
	}
	for _, p := range packages {
		from := part(p.ImportPath)
		allowed, known := mayImport[from]
		if _, testsOnly := testsMayImport[from]; !known && !testsOnly {
			t.Errorf("%s: the import order says nothing about %q: give it a place", p.ImportPath, from)
		}
		for _, to := range p.Imports {
			if own(to) && part(to) != from && !slices.Contains(allowed, part(to)) {
				t.Errorf("%s imports %s; %s may import %v", p.ImportPath, to, from, allowed)
			}
			for _, f := range forbidden {
				if to == f.path && !slices.Contains(f.parts, from) {
					t.Errorf("%s imports %s: %s", p.ImportPath, to, f.why)
				}
			}
		}
		for _, to := range append(p.TestImports, p.XTestImports...) {
			if own(to) && part(to) != from && !slices.Contains(allowed, part(to)) && !slices.Contains(testsMayImport[from], part(to)) {
				t.Errorf("a test of %s imports %s; %s may import %v, its tests %v too", p.ImportPath, to, from, allowed, testsMayImport[from])
			}
		}
	}
}

// The order itself has no circle, else it would forbid nothing.
func TestImportOrderIsAnOrder(t *testing.T) {
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		if slices.Contains(above, name) {
			t.Fatalf("a circle in the import order: %v", append(above, name))
		}
		for _, to := range mayImport[name] {
			if _, known := mayImport[to]; !known {
				t.Errorf("%s may import %s, which has no place in the order", name, to)
			}
			visit(to, append(slices.Clone(above), name))
		}
	}
	for name := range mayImport {
		visit(name, nil)
	}
}

func own(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// part is the first element of a package's path in the module, "." for the root.
func part(path string) string {
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return "."
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// list is what the go command knows of the repository's packages, built with these tags.
func list(t *testing.T, tags string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags="+tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaint.String())
	}
	var packages []goPackage
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
