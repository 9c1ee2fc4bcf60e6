package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// passedOver checks that Latest names the checkpoint of step 2 with the file that is wrong, and opens step 1.
func passedOver(t *testing.T, dir, file string) {
	t.Helper()
	c, damaged, err := Latest(dir)
	if err != nil || c == nil || c.Step != 1 {
		t.Fatalf("%+v %v %v", c, damaged, err)
	}
	if len(damaged) != 1 || filepath.Base(damaged[0].Path) != Name(2) || !strings.Contains(damaged[0].String(), file) {
		t.Fatalf("damaged: %v, want step 2 and the file %s", damaged, file)
	}
}

func TestCutOrChangedFilesArePassedOver(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 5)
	newest := mustSave(t, dir, 2, 5)
	r := testkit.Rand(1)
	for _, name := range []string{ModelFile, OptimizerFile, StateFile} {
		path := filepath.Join(newest, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damage := func(data []byte) {
			t.Helper()
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			passedOver(t, dir, name)
		}
		for at := range len(whole) { // one bit of every byte
			changed := bytes.Clone(whole)
			changed[at] ^= 1 << r.IntN(8)
			damage(changed)
		}
		damage(nil)
		damage(whole[:len(whole)-1])
		for range 50 {
			damage(whole[:r.IntN(len(whole))])
		}
		damage(append(bytes.Clone(whole), '\n'))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		passedOver(t, dir, name)
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, damaged, err := Latest(dir)
	if err != nil || len(damaged) != 0 {
		t.Fatal(damaged, err)
	}
	mustHold(t, c, 2, 5)
}

func TestAllDamaged(t *testing.T) {
	dir := t.TempDir()
	for step := range 3 {
		flip(t, filepath.Join(mustSave(t, dir, step, 3), OptimizerFile), 100, 4)
	}
	c, damaged, err := Latest(dir)
	if c != nil || err == nil || !strings.Contains(err.Error(), "none of the checkpoints") || len(damaged) != 3 || filepath.Base(damaged[0].Path) != Name(2) {
		t.Errorf("%v %v %v", c, damaged, err)
	}
}

func TestFolderUnderAnotherStepsName(t *testing.T) {
	dir := t.TempDir()
	path := mustSave(t, dir, 2, 3)
	if err := os.Rename(path, filepath.Join(dir, Name(9))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, Name(9))); err == nil || !strings.Contains(err.Error(), "of step 2") {
		t.Error(err)
	}
	if err := os.Rename(filepath.Join(dir, Name(9)), filepath.Join(dir, "best")); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(filepath.Join(dir, "best")); err != nil || c.Step != 2 {
		t.Error("a checkpoint under a name of its owner's choice:", err)
	}
}

func TestManifestRefuses(t *testing.T) {
	whole := manifest{Format: format, Step: 3, State: []byte("{}"), Files: map[string]fileInfo{
		ModelFile: {1, strings.Repeat("a", 64)}, OptimizerFile: {2, strings.Repeat("b", 64)}}}
	text := whole.encode()
	if _, err := decode(text); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"its format is":                  {format, "konkanitrain checkpoint 2"},
		"step -3":                        {`"step": 3`, `"step": -3`},
		"cannot unmarshal":               {`"step": 3`, `"step": 3.5`},
		"unknown field":                  {`"step"`, `"stop"`},
		"no size and checksum":           {strings.Repeat("a", 64), "aa"},
		"no size and checksum of model":  {ModelFile, "other"},
		"no state":                       {`"state": {}`, `"state2": {}`},
		"invalid character":              {`"state": {}`, `"state": {`},
		"no size and checksum of optimi": {`"bytes": 2`, `"bytes": -2`},
		"no size and checksum of opt":    {strings.Repeat("b", 64), strings.Repeat("b", 65)}, // an odd digit behind a whole sum
		"3 files listed":                 {`"` + ModelFile + `"`, `"another": {}, "` + ModelFile + `"`},
		"after top-level value":          {"{\n  \"format\"", "{} {\n  \"format\""},
	} {
		body := strings.ReplaceAll(string(text[:len(text)-len(seal(nil))]), change[0], change[1])
		if what == "no state" {
			body = strings.ReplaceAll(body, ",\n  \"state2\": {}", "")
		}
		if _, err := decode(append([]byte(body), seal([]byte(body))...)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
}

func FuzzManifest(f *testing.F) {
	whole := manifest{Format: format, Step: 3, State: []byte(`{"best": 1e-3}`), Files: map[string]fileInfo{
		ModelFile: {1, strings.Repeat("a", 64)}, OptimizerFile: {2, strings.Repeat("b", 64)}}}
	text := whole.encode()
	f.Add(text)
	f.Add(text[:len(text)-len(seal(nil))])
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := decode(text); err == nil { // what is sealed by chance must be whole
			if _, err := parse(text); err != nil {
				t.Fatal(err)
			}
		}
		m, err := decode(append(bytes.Clone(text), seal(text)...)) // past the checksum, into the parser
		if err != nil {
			return
		}
		if m.Step < 0 || len(m.State) == 0 || len(m.Files) != 2 {
			t.Fatalf("%+v", m)
		}
		if n, err := decode(m.encode()); err != nil || n.Step != m.Step || n.Files[ModelFile] != m.Files[ModelFile] {
			t.Fatalf("%+v, then %+v %v", m, n, err)
		}
	})
}

// A trainer.json that can't be read, or is longer than any that is written, is refused; so is a state that would make
// one.
func TestStateFileLimits(t *testing.T) {
	dir := t.TempDir()
	path := mustSave(t, dir, 1, 2)
	name := filepath.Join(path, StateFile)
	for extra, want := range []string{"its checksum", "is longer than"} {
		if err := os.Truncate(name, int64(maxState+extra)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !contains(err.Error(), want) || !contains(err.Error(), name) {
			t.Errorf("%d bytes: %v", maxState+extra, err)
		}
	}
	if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	m, _, _, err := prepare(2, Content{State: ""})
	if err != nil {
		t.Fatal(err)
	}
	room := maxState - len(m.encode())
	for extra, ok := range []bool{true, false} {
		_, _, _, err := prepare(2, Content{State: strings.Repeat("x", room+extra)})
		if (err == nil) != ok || err != nil && !contains(err.Error(), "no more than") {
			t.Errorf("a state of the limit + %d: %v", extra, err)
		}
	}
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	if err := verify(filepath.Join(dir, "none"), fileInfo{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := verify(dir, fileInfo{SHA256: strings.Repeat("0", 64)}); err == nil || !contains(err.Error(), "is a directory") {
		t.Error(err)
	}
}
