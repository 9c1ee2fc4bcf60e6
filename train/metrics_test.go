package train

import (
	"bytes"
	"encoding/json"
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
	mustEnd(t, run)
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
		write(t, path, before)
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

// checkMetrics counts the events of metrics.jsonl.
func checkMetrics(t *testing.T, dir string, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, r := range records(t, dir) {
		got[r.Event]++
		if r.Event == "update" && r.Update != got["update"] {
			t.Errorf("record %d is of update %d", got["update"], r.Update)
		}
	}
	for event, n := range want {
		if got[event] != n {
			t.Errorf("%d records of %s, want %d", got[event], event, n)
		}
	}
}

// record is a line of metrics.jsonl.
type record struct {
	Event, Time string
	Update      int
	ResumedAt   *int `json:"resumed_at"`
	Loss        float64
	LossScale   float64 `json:"loss_scale"`
	Skipped     int
}

// records reads a metrics.jsonl.
func records(t *testing.T, dir string) (list []record) {
	t.Helper()
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "metrics.jsonl"))) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Time == "" {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, r)
	}
	return list
}
