package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/internal/testkit"
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
			m, err := openMetrics(dir, "")
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
	Run         string
	Update      int
	Epoch       int
	Utterances  int
	ResumedAt   *int `json:"resumed_at"`
	LoggedAt    *int `json:"logged_at"`
	Loss        float64
	Rate        float64 `json:"learning_rate"`
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

// The loss of an utterance is the weighted sum of its two parts, so their means over a few updates are too.
func TestMetricsOfTheLoss(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Model.DecoderLayers, cfg.Model.CTCWeight, cfg.Run.LogEvery, cfg.Optimizer.MaxUpdates = 1, 0.3, 3, 6
	mustEnd(t, start(t, cfg, nil))
	n := 0
	for line := range strings.Lines(readFile(t, filepath.Join(cfg.Run.CheckpointDir, "metrics.jsonl"))) {
		var r struct {
			Event         string
			Loss, CTC, CE float64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Event != "update" {
			continue
		}
		n++
		// Each utterance's loss is rounded to float32: 2^-24 of it.
		if want := 0.3*r.CTC + 0.7*r.CE; r.CE <= 0 || r.CTC <= 0 || math.Abs(r.Loss-want) > 1e-6*want {
			t.Errorf("the loss is %v, of CTC %v and cross-entropy %v it is %v", r.Loss, r.CTC, r.CE, want)
		}
	}
	if n != 2 {
		t.Fatalf("%d records, want one every 3 updates", n)
	}
}

// What can't be written as JSON is an error, and nothing is written then; so is a file that is closed.
func TestMetricsThatFail(t *testing.T) {
	dir := t.TempDir()
	m, err := openMetrics(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	testkit.MustFail(t, m.write("bad", map[string]any{"x": math.NaN()}), "NaN")
	if b := readFile(t, filepath.Join(dir, "metrics.jsonl")); b != "" {
		t.Errorf("it holds %q", b)
	}
	m.file.Close()
	testkit.MustFail(t, m.write("late", struct{}{}), "closed")
	testkit.MustFail(t, m.close(), "closed")
	if err := errors.Join(m.write("later", struct{}{}), m.close()); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// Metrics that were given up stay so when the folder is made again; those that can't be made again are said.
func TestMetricsAreRenewed(t *testing.T) {
	var said bytes.Buffer
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	r := start(t, cfg, &said)
	r.cfg.Run.LogDir = filepath.Join(t.TempDir(), "file")
	write(t, r.cfg.Run.LogDir, "")
	r.renewMetrics()
	mustContainOnce(t, said.String(), "WARNING: the run goes on without metrics.jsonl: log_dir: ")
	r.record("late", struct{}{})
	r.cfg.Run.LogDir = t.TempDir()
	r.renewMetrics()
	if _, err := os.Stat(filepath.Join(r.cfg.Run.LogDir, "metrics.jsonl")); err == nil {
		t.Error("they were given up, and begin again")
	}
}

// Between two progress lines figures add up; the last update has a line of its own, whatever log_every says.
func TestProgressLines(t *testing.T) {
	var said bytes.Buffer
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.LogEvery, cfg.Optimizer.MaxUpdates = 3, 7
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
		t.Fatal(err)
	}
	var got []record
	for _, m := range records(t, cfg.Run.CheckpointDir) {
		if m.Event == "update" {
			m.Time, m.Loss, m.Rate = "", 0, 0
			got = append(got, m)
		}
	}
	want := []record{
		{Event: "update", Update: 3, Epoch: 2, Utterances: 12}, {Event: "update", Update: 6, Epoch: 3, Utterances: 12},
		{Event: "update", Update: 7, Epoch: 4, Utterances: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	mustContainOnce(t, said.String(), "update 3  epoch 2/", "update 6  epoch 3/", "update 7  epoch 4/")
	if n := strings.Count(said.String(), "  loss "); n != 3 {
		t.Errorf("%d progress lines", n)
	}
}
