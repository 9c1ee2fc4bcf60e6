package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// A folder tells its runs apart; one without a run says what to name instead.
func TestSources(t *testing.T) {
	dir := aRun(t, 5)
	if list, err := Sources(dir); err != nil || len(list) != 1 || list[0].Run != "" || list[0].Dir != dir || list[0].Name != dir {
		t.Errorf("%+v, %v", list, err)
	}
	logs := t.TempDir()
	for _, run := range []string{"/runs/a", "/runs/b"} {
		add(t, logs, metricsFile, strings.Replace(startLine(10), `"start",`, fmt.Sprintf(`"start","run":%q,`, run), 1))
	}
	list, err := Sources(logs)
	if err != nil || len(list) != 2 || list[1].Run != "/runs/b" || list[1].Dir != "/runs/b" || list[1].Name != filepath.Join(logs, "b") {
		t.Errorf("%+v, %v", list, err)
	}
	// One by its checkpoint_dir, which says where its records are.
	own := t.TempDir()
	write(t, own, StepFile, fmt.Sprintf(`{"log_dir":%q,"run":"/runs/b"}`, logs))
	one, err := Sources(own)
	if err != nil || len(one) != 1 || one[0].Logs != logs || one[0].Run != "/runs/b" || one[0].Dir != own || one[0].Name != own || !one[0].Is(list[1]) || one[0].Is(list[0]) {
		t.Errorf("%+v, %v", one, err)
	}
	// Two folders of one name are two runs.
	add(t, logs, metricsFile, strings.Replace(startLine(10), `"start",`, `"start","run":"/others/a",`, 1))
	list, err = Sources(logs)
	if err != nil || len(list) != 3 || list[0].Name != "/runs/a" || list[1].Name != filepath.Join(logs, "b") || list[2].Name != "/others/a" || list[0].Is(list[2]) {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = Sources(t.TempDir())
	testkit.MustFail(t, err, "there is no metrics.jsonl", "name a run's checkpoint_dir, or its log_dir")
	_, err = Sources(filepath.Join(dir, "none"))
	testkit.MustFail(t, err, "no run to show", "no such file")
	write(t, logs, metricsFile, "{}\n")
	_, err = Sources(logs)
	testkit.MustFail(t, err, "has no record that begins one")
	if err := os.Remove(filepath.Join(logs, metricsFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(logs, metricsFile), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err = Sources(logs)
	testkit.MustFail(t, err, "is no regular file")
	_, err = New(nil, make([]Source, mostRuns+1))
	testkit.MustFail(t, err, "17 runs are too many", "name the checkpoint_dir")
}
