package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tests run from near to far: a package's own, its importers', and those that import it in tests alone.
func TestTesters(t *testing.T) {
	r := &repository{packages: map[string]*goPackage{
		"low":     {XTestGoFiles: []string{"low_test.go"}},
		"middle":  {Imports: []string{"low"}}, // no tests
		"aside":   {TestGoFiles: []string{"aside_test.go"}},
		"high":    {Imports: []string{"middle", "aside"}, TestGoFiles: []string{"high_test.go"}},
		"presets": {XTestImports: []string{"high"}, XTestGoFiles: []string{"presets_test.go"}},
		"checks":  {TestImports: []string{"low"}, TestGoFiles: []string{"checks_test.go"}},
	}}
	for path, p := range r.packages {
		p.ImportPath = path
	}
	for path, want := range map[string][]string{
		"low":     {"low", "checks", "high", "presets"},
		"middle":  {"high", "presets"},
		"aside":   {"aside", "high", "presets"},
		"high":    {"high", "presets"},
		"presets": {"presets"},
	} {
		if diff := cmp.Diff(want, r.testers(path)); diff != "" {
			t.Errorf("testers of %s (-want +got):\n%s", path, diff)
		}
	}
}
