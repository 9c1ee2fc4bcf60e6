package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The metrics of a run can get lost, by a full disk say; the run can't.
func TestRunWithoutMetrics(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, cfg.Data.TrainManifest, 4
	run := start(t, cfg, &said)
	run.hook = func(update int) {
		if update == 2 {
			run.metrics.file.Close() // all further writes fail
		}
	}
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := run.result(); r.Updates != 4 || r.Test == nil || filepath.Base(r.Checkpoint) != "step-00000004" {
		t.Errorf("%+v, want a run to the end", r)
	}
	mustContainOnce(t, said.String(), "WARNING: metrics.jsonl can't be written any more, the run goes on without it")
	checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"start": 1, "update": 2})
}

// A line that was cut stays alone: the next record begins a new one.
func TestMetricsAfterATornLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "metrics.jsonl")
	for _, before := range []string{"", "{\"event\":\"a\"}\n", "{\"event\":\"a\"}\n{\"eve"} {
		if err := writeFile(path, before); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m, err := openMetrics(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.write("b", struct{}{}); err != nil {
				t.Fatal(err)
			}
			m.close()
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(string(b), before)
		if strings.HasSuffix(before, "eve") {
			rest, ok = strings.CutPrefix(rest, "\n")
		}
		if !ok || strings.Count(rest, "\n") != 2 || strings.Count(rest, "\n{") != 1 || !strings.HasPrefix(rest, `{"event":"b","time":"`) {
			t.Errorf("after %q there is %q", before, b)
		}
	}
}
