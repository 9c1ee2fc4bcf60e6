package konkanitrain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// british are word parts in the spelling that this repository doesn't use: it is that of Go's standard library.
var british = regexp.MustCompile(`(?i)\b\w*(normalis|optimis|recognis|initialis|tokenis|serialis|summaris|organis|minimis|maximis|` +
	`utilis|neighbour|behaviour|colour|favour|honour|centre\b|centred|modelling|labelled|analys(e|ed|ing)\b|judgement)\w*`)

// otherSpelling are files that name what is in other people's data.
var otherSpelling = map[string]bool{"data/feature/golden_test.go": true, "data/text/shared_test.go": true}

// mostColumns is the longest line of prose.
const mostColumns = 120

// TestProse holds comments and pages to one spelling, and to lines that can be read beside each other.
func TestProse(t *testing.T) {
	files := tracked(t, "*.go", "*.md", "*.yaml", "*.sh")
	if len(files) < 100 || !slices.Contains(files, "README.md") || !slices.Contains(files, "docs/data.md") {
		t.Fatalf("files are missing: %d are here", len(files))
	}
	for _, name := range files {
		if name == "style_test.go" || strings.HasPrefix(filepath.Base(name), "kernels_") && strings.HasPrefix(name, "internal/simd") {
			continue // this list, and what the generator writes
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code := false // in a fenced block of a page
		for i, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if w := british.FindString(line); w != "" && !otherSpelling[name] {
				t.Errorf("%s:%d: %q is not the spelling used here", name, i+1, w)
			}
			if n := utf8.RuneCountInString(line); n > mostColumns && isProse(name, line, code) {
				t.Errorf("%s:%d: a line of prose of %d columns", name, i+1, n)
			}
		}
	}
}

// isProse says whether a line is text for people: a comment of its own, or a line of a page that is no table or code.
func isProse(name, line string, code bool) bool {
	switch trimmed := strings.TrimSpace(line); filepath.Ext(name) {
	case ".md":
		return !code && !strings.HasPrefix(trimmed, "|") && !strings.HasPrefix(line, "    ")
	case ".go":
		return strings.HasPrefix(trimmed, "//")
	default:
		return strings.HasPrefix(trimmed, "#")
	}
}

// tracked are the repository's files of these names.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...).Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	return strings.Fields(string(out))
}
