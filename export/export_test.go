package export

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"konkanitrain/internal/onnx"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

var graphs = Options{Format: ONNX, Features: Out, Weights: onnx.Float32}

// Each format writes the files that it says, and all of them again, byte for byte.
func TestFormats(t *testing.T) {
	for format, files := range map[Format][]string{
		ONNX: {"model.onnx", "tokens.txt", "README.md"}, Safetensors: {"model.safetensors", "config.json", "conformer.py", "README.md"},
	} {
		m := stored(t, described(t, 4))
		o := graphs
		o.Format = format
		dir, r := mustWrite(t, m, o)
		if !slices.Equal(r.Files, files) || r.Model != m.Path || r.Path != dir {
			t.Errorf("%s: %+v", format, r)
		}
		again, _ := mustWrite(t, m, o)
		total := int64(0)
		for _, name := range files {
			b := mustRead(t, dir, name)
			total += int64(len(b))
			if !bytes.Equal(b, mustRead(t, again, name)) {
				t.Errorf("%s: %s is another one the second time", format, name)
			}
		}
		if total != r.Bytes {
			t.Errorf("%s: %d bytes, and it says %d", format, total, r.Bytes)
		}
		if !bytes.Equal(mustRead(t, dir, listFile), mustRead(t, again, listFile)) {
			t.Errorf("%s: the list is another one the second time", format)
		}
	}
	_, err := Write(stored(t, described(t, 4)), filepath.Join(t.TempDir(), "x"), Options{Format: "gguf"})
	testkit.MustFail(t, err, `format is "gguf"; onnx, sherpa-onnx and safetensors are known`)
}

// Tensors describe themselves: an export is a model, whose export is the same again.
func TestTensorsAreAModel(t *testing.T) {
	o := Options{Format: Safetensors}
	dir, _ := mustWrite(t, stored(t, described(t, 4)), o)
	m, err := recognize.Open(filepath.Join(dir, "model.safetensors"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := mustWrite(t, m, o)
	if !bytes.Equal(mustRead(t, dir, "model.safetensors"), mustRead(t, again, "model.safetensors")) {
		t.Error("exported from an export, the tensors are others")
	}
}

// Nothing but an export is ever replaced, and that only where it is asked for.
func TestWhatIsInTheWay(t *testing.T) {
	m := stored(t, described(t, 4))
	write := func(dir string, force bool) error {
		o := graphs
		o.Force = force
		checked, wrote := Check(dir, force), error(nil)
		_, wrote = Write(m, dir, o)
		if (checked == nil) != (wrote == nil) {
			t.Errorf("%s: Check says %v, Write %v", dir, checked, wrote)
		}
		return wrote
	}
	fill := func(dir, name string) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := write(dir, false); err != nil { // an empty folder
		t.Fatal(err)
	}
	testkit.MustFail(t, write(dir, false), "is an export already")
	if err := write(dir, true); err != nil {
		t.Fatal(err)
	}
	fill(dir, "mine.txt")
	testkit.MustFail(t, write(dir, true), "files in it that are not the export's, such as mine.txt")
	foreign := t.TempDir()
	fill(foreign, "model.onnx")
	testkit.MustFail(t, write(foreign, true), "no export (it has no export.json)")
	fill(foreign, listFile)
	testkit.MustFail(t, write(foreign, true), "its export.json is none of this program's")
	file := filepath.Join(t.TempDir(), "file")
	fill(filepath.Dir(file), "file")
	testkit.MustFail(t, write(file, true), "is no folder that can be read")
	around, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || slices.ContainsFunc(around, func(e os.DirEntry) bool { return e.Name()[0] == '.' }) {
		t.Errorf("something is left over: %v, %v", around, err)
	}
}

// What an export that was stopped has left is named by the next one.
func TestLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]*")
	left := filepath.Join(filepath.Dir(dir), ".a[1]*.partial-x")
	if err := os.Mkdir(left, 0o777); err != nil {
		t.Fatal(err)
	}
	r, err := Write(stored(t, described(t, 4)), dir, graphs)
	if err != nil || !slices.Contains(r.Notes, "left by an export that was stopped, or is going on: "+left) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A weight that is no number makes no export.
func TestWeightsThatAreNoNumbers(t *testing.T) {
	for _, format := range []Format{ONNX, Safetensors} {
		d := described(t, 4)
		all, byName := values(d)
		byName["ctc.bias"][2] = float32(math.NaN())
		o := graphs
		o.Format = format
		dir := filepath.Join(t.TempDir(), "export")
		_, err := Write(storedWith(t, d, all), dir, o)
		testkit.MustFail(t, err, "element 2 of ctc.bias is NaN: such a network recognizes nothing")
		if _, err := os.Stat(dir); err == nil {
			t.Error("it is there all the same")
		}
	}
}

// A file with other tensors than those of its network is refused.
func TestOtherTensors(t *testing.T) {
	d := described(t, 4)
	all, _ := values(d)
	_, err := Write(storedWith(t, d, all[1:]), filepath.Join(t.TempDir(), "export"), graphs)
	testkit.MustFail(t, err, "encoder.subsample.conv.0.weight")
}

// Every parameter is exported with the name and shape that the network knows.
func TestWeightsOfTheNetwork(t *testing.T) {
	d := described(t, 4)
	all, err := weights(stored(t, d))
	if err != nil || len(all) != len(model.Parameters(d.Network)) {
		t.Fatalf("%d, %v", len(all), err)
	}
	_, want := values(d)
	for _, x := range all {
		if !slices.Equal(x.values, want[x.Name]) {
			t.Errorf("%s has other values", x.Name)
		}
	}
}

// The Python file names every part that a parameter of a network belongs to.
func TestPythonKnowsAllParts(t *testing.T) {
	known := map[string]bool{"weight": true, "bias": true} // PyTorch's own
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(string(loader), -1) {
		known[word] = true
	}
	for _, p := range model.Parameters(described(t, 8).Network) {
		for _, part := range strings.Split(p.Name, ".") {
			if _, err := strconv.Atoi(part); err != nil && !known[part] {
				t.Errorf("conformer.py doesn't know %s of %s", part, p.Name)
			}
		}
	}
}
