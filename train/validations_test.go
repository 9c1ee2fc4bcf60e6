package train

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/scores"
	"konkanitrain/internal/testkit"
)

// validationsIn are the records in a folder of the run that has it for itself.
func validationsIn(t *testing.T, dir string) []scores.Validation {
	t.Helper()
	var list []scores.Validation
	for line := range strings.Lines(readFile(t, filepath.Join(dir, validationsFile))) {
		var r struct {
			Event string
			scores.Validation
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Event == "validation" {
			list = append(list, r.Validation)
		}
	}
	return list
}

// Each validation is recorded once, with its worst utterances, also by a run that is killed at any moment and goes on.
func TestKilledRunHasTheSameValidations(t *testing.T) {
	manifest := speak(t, babble(10, 3, 1)...)
	straight := small(tiny(t, manifest))
	straight.Data.ValManifest, straight.Run.MemoryLog, straight.Run.WorstUtterances = []string{manifest}, "off", 4
	straight.Run.SaveEvery, straight.Run.EvalEvery, straight.Optimizer.MaxUpdates = 2, 3, 8
	kills := &snapshots{t: t, dir: straight.Run.CheckpointDir}
	r := start(t, straight, kills)
	mustEnd(t, r)
	r.close()
	want := validationsIn(t, straight.Run.CheckpointDir)
	if len(want) != 3 || want[0].Update != 3 || want[2].Update != 8 || want[0].Utterances != 10 || want[0].Wrong < 4 || len(want[0].Worst) != 4 {
		t.Fatalf("%+v", want)
	}
	u := want[0].Worst[0]
	if u.ID == "" || u.Manifest != manifest || u.Line == 0 || !strings.HasSuffix(u.Audio, ".wav") || u.Reference == "" || u.Chars.Errors() == 0 || !(u.Seconds > 0) {
		t.Errorf("%+v", u)
	}
	for i, dir := range kills.taken {
		cfg := straight
		cfg.Run.CheckpointDir = dir
		mustRun(t, withResume(cfg))
		if diff := cmp.Diff(want, validationsIn(t, dir)); diff != "" {
			t.Fatalf("killed at moment %d:\n%s", i, diff)
		}
		seen := map[float64]bool{}
		for line := range strings.Lines(readFile(t, filepath.Join(dir, validationsFile))) {
			var l map[string]any
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Errorf("killed at moment %d: %v in %q", i, err, line)
			} else if update := l["update"].(float64); l["event"] == "validation" {
				if seen[update] {
					t.Errorf("killed at moment %d: validation %g stands there twice", i, update)
				}
				seen[update] = true
			}
		}
	}
	if len(kills.taken) < 6 {
		t.Errorf("%d kills: this test says little", len(kills.taken))
	}
}

// With worst_utterances 0, and without a validation set, there is no such file; the weights are the same.
func TestValidationsAreOptional(t *testing.T) {
	manifest := speak(t, babble(6, 3, 1)...)
	cfg := small(tiny(t, manifest))
	cfg.Data.ValManifest, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = []string{manifest}, 1, 2
	mustRun(t, cfg)
	off := elsewhere(t, cfg)
	off.Run.WorstUtterances = 0
	mustRun(t, off)
	mustEqualRun(t, off.Run.CheckpointDir, cfg.Run.CheckpointDir, 2)
	without := elsewhere(t, cfg)
	without.Data.ValManifest = nil
	mustRun(t, without)
	for _, dir := range []string{off.Run.CheckpointDir, without.Run.CheckpointDir} {
		if _, err := os.Stat(filepath.Join(dir, validationsFile)); err == nil {
			t.Errorf("%s has a %s", dir, validationsFile)
		}
	}
}

// A run whose validations can't be written any more says so once and goes on to its end.
func TestRunWithoutValidations(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, 1, 4
	run := start(t, cfg, &said)
	run.hook = atUpdate(2, func() { run.validations.file.Close() })
	mustEnd(t, run)
	mustContainOnce(t, said.String(), "WARNING: validations.jsonl can't be written any more, the run goes on without it")
	if list := validationsIn(t, cfg.Run.CheckpointDir); len(list) != 1 || run.result().Updates != 4 {
		t.Errorf("%+v", list)
	}
}

// A file that has grown too large keeps its newest half in whole lines, and goes on.
func TestValidationsStaySmall(t *testing.T) {
	dir := t.TempDir()
	open := func() *validationLog {
		m, err := openRecords(dir, validationsFile, "")
		if err != nil {
			t.Fatal(err)
		}
		return &validationLog{metrics: *m, dir: dir}
	}
	l := open()
	defer func() { l.close() }()
	largest := 0
	for i := 1; i <= 100; i++ {
		if err := l.write("validation", map[string]any{"update": i, "text": strings.Repeat("x", 100+i)}); err != nil {
			t.Fatal(err)
		}
		if err := l.shorten(3000); err != nil {
			t.Fatal(err)
		}
		list := validationsIn(t, dir)
		if last := list[len(list)-1].Update; last != i || list[0].Update != i-len(list)+1 {
			t.Fatalf("after record %d: %d to %d, %d in all", i, list[0].Update, last, len(list))
		}
		text := readFile(t, filepath.Join(dir, validationsFile))
		if strings.Count(text, "\n") != len(list) {
			t.Errorf("lines were cut: %q", text)
		}
		largest = max(largest, len(text))
	}
	if largest > 3000 || largest < 1500 {
		t.Errorf("the file had up to %d bytes", largest)
	}
	other := open()
	defer other.close()
	before := readFile(t, filepath.Join(dir, validationsFile))
	if err := l.shorten(10); err != nil {
		t.Fatal(err)
	}
	if after := readFile(t, filepath.Join(dir, validationsFile)); after != before {
		t.Errorf("shortened under another run: %d bytes of %d", len(after), len(before))
	}
	if err := l.write("validation", map[string]any{"update": 101}); err != nil {
		t.Error(err)
	}
}

// Exactly so many bytes of whole lines are kept as are asked for.
func TestCopyEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write(t, path, "a\nbb\nccc\n")
	for most, want := range map[int64]string{4: "ccc\n", 5: "ccc\n", 7: "bb\nccc\n", 8: "bb\nccc\n", 9: "a\nbb\nccc\n", 99: "a\nbb\nccc\n"} {
		var b bytes.Buffer
		if err := copyEnd(&b, path, most); err != nil || b.String() != want {
			t.Errorf("%d: %q, %v, want %q", most, b.String(), err, want)
		}
	}
	testkit.MustFail(t, copyEnd(&bytes.Buffer{}, path+".none", 1), "x.none")
}
