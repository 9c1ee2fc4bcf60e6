package op_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// Every op keeps to its specification, in every way there is.
func TestCases(t *testing.T) {
	for _, c := range optest.Cases() {
		optest.Run(t, optest.CPU(), c)
	}
}

// Every op that this package can make has a case.
func TestEveryOpHasACase(t *testing.T) {
	covered := optest.Covered()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	literal := regexp.MustCompile(`Name: +"([a-z.]+)"`)
	names := []string{"attention", "attention.grad", "attention.relative", "attention.relative.grad"} // put together in attention.go
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range literal.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	if len(names) < 40 {
		t.Fatalf("only %d names of ops are in the source: %v", len(names), names)
	}
	for _, name := range names {
		if !covered[name] {
			t.Errorf("no case of package optest compares %s with its specification", name)
		}
	}
}

// Every op of a graph also has a case in batches: padding, batch mates and absent rows are seen there only. A case is
// called after its op. The total has no rows to pad: it is the sum over all of them.
func TestEveryOpHasACaseInBatches(t *testing.T) {
	batches := map[string]bool{"total": true}
	for _, c := range optest.Cases() {
		if name, _, _ := strings.Cut(c.Name, "/"); c.Batch != nil {
			batches[name] = true
		}
	}
	for _, c := range optest.Cases() {
		if name, _, _ := strings.Cut(c.Name, "/"); c.Make == nil && c.Batch == nil && !batches[name] {
			t.Errorf("%s has no case with utterances in batches (optest.Batch)", name)
		}
	}
}

// The cases of attention are meant to be larger than what the kernel takes at a time.
func TestCasesHaveSeveralTiles(t *testing.T) {
	if optest.QueryTile != op.QueryTile {
		t.Errorf("optest takes a tile for %d queries, it is %d", optest.QueryTile, op.QueryTile)
	}
}
