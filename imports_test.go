// Package konkanitrain_test holds the repository's packages to the one direction in which they may import.
package konkanitrain_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport says, for each room of the repository, which other rooms it may import. A package's room is the first
// element of its path: data/audio belongs to data. Parts of internal are rooms of their own, internal/simd, and so is
// what has a row of its own here. A room may always import itself.
var mayImport = map[string][]string{
	"internal/words":       {}, // numbers and lists in messages
	"internal/settings":    {}, // flags and YAML
	"internal/safetensors": {},
	"internal/page":        {},                // what pages have in common
	"internal/arenapage":   {"internal/page"}, // a plan's memory as a page
	"internal/auditpage":   {"internal/page"}, // what was found in sets, as a page
	"internal/learnpage":   {"internal/page"}, // what recipes have come to, as a page
	"internal/rangetest":   {"internal/page"}, // finds a learning rate
	"internal/patterns":    {},                // parts of a network by patterns of their names
	"internal/frames":      {},                // the arithmetic of lengths
	"internal/philox":      {},                // random numbers
	"internal/simd":        {"internal/philox"},
	"internal/machine":     {"internal/words"}, // what memory there is, and who uses it
	"internal/control":     {},                 // asks a run in progress
	"internal/ngram":       {"internal/words"}, // language models of n-grams
	"internal/tensorboard": {},                 // event files
	"internal/onnx":        {"internal/simd"},  // networks for other runtimes
	"internal/mlflow":      {},                 // tells a tracking server of a run

	"device": {},
	"op":     {"internal/frames", "internal/philox", "internal/simd", "internal/onnx", "device"}, // every kernel is an op's
	"engine": {"device", "op"},
	"model":  {"internal/frames", "internal/philox", "internal/patterns", "internal/onnx", "op"}, // not engine, and engine not model

	"data":       {"internal/frames", "internal/philox", "internal/simd", "internal/onnx", "internal/words"},
	"checkpoint": {"internal/safetensors", "internal/words"},

	"internal/scores":      {"internal/philox", "data"},                                      // what a model has made of a set, utterance by utterance
	"recognize/decode":     {},                                                               // hypotheses, alignments and confidences of log-probabilities, whatever they come from
	"recognize/transcript": {},                                                               // what was recognized, as files of several forms
	"internal/watch":       {"internal/page", "internal/control", "internal/scores", "data"}, // shows runs over HTTP

	"update": {"internal/frames", "internal/philox", "internal/patterns", "device", "op", "engine", "model", "data"},

	"recognize": {"internal/machine", "internal/ngram", "internal/scores", "internal/words", "device", "op", "engine", "model", "data", "checkpoint", "update", "recognize/decode", "recognize/transcript"},
	"train":     {"internal/arenapage", "internal/control", "internal/machine", "internal/mlflow", "internal/patterns", "internal/philox", "internal/rangetest", "internal/scores", "internal/settings", "internal/tensorboard", "internal/watch", "internal/words", "device", "op", "engine", "model", "data", "checkpoint", "update", "recognize"},
	"cmd":       {"internal/arenapage", "internal/auditpage", "internal/control", "internal/machine", "internal/ngram", "internal/scores", "internal/settings", "internal/watch", "internal/words", "op", "data", "checkpoint", "recognize", "train", "recognize/transcript", "export"},
	"export":    {"internal/onnx", "internal/safetensors", "internal/words", "model", "data", "checkpoint", "recognize"},
	"bench":     {"device", "op", "engine", "model", "data", "checkpoint", "update", "internal/philox", "internal/page", "internal/learnpage", "internal/words"}, // programs, as in cmd

	"internal/ptx": {}, // the cards' kernels as committed files, and their compiler

	"internal/testkit": {"internal/safetensors"},                                                   // for tests
	"internal/optest":  {"internal/testkit", "internal/philox", "internal/frames", "device", "op"}, // the ops' tests, as a list of cases
}

// testsMayImport is what tests may import beyond their room's rule; every test may import internal/testkit.
var testsMayImport = map[string][]string{
	".":                 {},                                                                                   // this file
	"configs":           {"internal/settings", "internal/optest", "op", "engine", "model", "train", "update"}, // presets, and what they promise
	"internal/settings": {"train"},                                                                            // the largest set of settings there is
	"engine":            {"model", "internal/optest"},                                                         // whole networks in planned memory
	"op":                {"internal/optest", "internal/ptx"},
	"model":             {"internal/optest", "engine"},
	"device":            {"internal/simd"}, // float16
	"data":              {"op"},            // ids of tokens that both know
	"update":            {"checkpoint"},
	"recognize":         {"internal/philox", "internal/frames"},
	"bench":             {"internal/settings", "train"},                          // presets, as they are tried
	"export":            {"internal/optest", "device", "engine", "op", "update"}, // what an exported model is compared with
	"train":             {"internal/safetensors", "internal/frames", "internal/philox"},
}

// forbidden are packages that only some rooms may import, with the reason.
var forbidden = []struct {
	path  string
	rooms []string
	why   string
}{
	{"konkanitrain/internal/testkit", []string{"internal/optest"}, "it is for tests"},
	{"konkanitrain/internal/testkit/browser", nil, "it is for tests"},
	{"konkanitrain/internal/optest", nil, "it is for tests"},
	{"konkanitrain/device/faulty", nil, "it is for tests"},
	{"konkanitrain/device/cuda/simulated", nil, "it is for tests"},
	{"gorgonia.org/gorgonia", []string{"op", "engine", "model", "update", "internal/optest"}, "graphs are the core's business"},
	{"github.com/spf13/pflag", []string{"internal/settings", "cmd", "bench"}, "flags are the program's business"},
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
		from := room(p.ImportPath)
		allowed, known := mayImport[from]
		if _, testsOnly := testsMayImport[from]; !known && !testsOnly {
			t.Errorf("%s: the import order says nothing about %q: give it a place", p.ImportPath, from)
		}
		for _, to := range p.Imports {
			if own(to) && room(to) != from && !slices.Contains(allowed, room(to)) {
				t.Errorf("%s imports %s; %s may import %v", p.ImportPath, to, from, allowed)
			}
			for _, f := range forbidden {
				if to == f.path && !slices.Contains(f.rooms, from) {
					t.Errorf("%s imports %s: %s", p.ImportPath, to, f.why)
				}
			}
		}
		for _, to := range append(p.TestImports, p.XTestImports...) {
			if own(to) && room(to) != from && room(to) != "internal/testkit" &&
				!slices.Contains(allowed, room(to)) && !slices.Contains(testsMayImport[from], room(to)) {
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

// room is the first element of a package's path in the module, the first two in internal and where mayImport has them,
// "." for the root.
func room(path string) string {
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return "."
	}
	parts := strings.Split(rest, "/")
	if len(parts) > 1 {
		if two := parts[0] + "/" + parts[1]; parts[0] == "internal" || mayImport[two] != nil {
			return two
		}
	}
	return parts[0]
}

// list is what the go command knows of the repository's packages, built with these tags.
func list(t *testing.T, tags string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags="+tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // for the tag gpu; listing compiles nothing
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
