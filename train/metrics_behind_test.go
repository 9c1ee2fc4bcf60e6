package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
)

// snapshots copies a run's folder whenever it is written to, as by a run that is about to say something: what is on
// disk if the run is killed then.
type snapshots struct {
	t     *testing.T
	dir   string
	taken []string
}

func (s *snapshots) Write(line []byte) (int, error) {
	if _, err := os.Stat(s.dir); err == nil {
		to := filepath.Join(s.t.TempDir(), "run")
		copyFolder(s.t, s.dir, to)
		s.taken = append(s.taken, to)
	}
	return len(line), nil
}

// copyFolder copies a run's folder but for its socket, which lives with the process.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSocket != 0 {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// figuresOf are the records of updates and validations, without what is about time.
func figuresOf(t *testing.T, dir string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(readFile(t, filepath.Join(dir, metricsFile))) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) != nil || m["event"] != "update" && m["event"] != "validation" {
			continue
		}
		for _, key := range []string{"time", "seconds", "wait_share", "took", "memory"} {
			delete(m, key)
		}
		list = append(list, m)
	}
	return list
}

const foreign = "somebody's notes\n{\"event\":\"update\",\"update\":999}\n{\"loss\": [1, 2]}\n\n"

// Whenever a run is killed, the run that goes on has the same records of updates and validations in the end as the one
// that was never killed, each once, and the same weights; lines that are no records of it stay.
func TestKilledRunHasTheSameMetrics(t *testing.T) {
	manifest := speak(t, babble(10, 3, 1)...) // epochs of three windows
	for _, c := range []struct{ log, save, eval, stop int }{{1, 2, 3, 0}, {3, 1, 5, 0}, {5, 3, 0, 2}} {
		straight := small(tiny(t, manifest))
		straight.Data.ValManifest, straight.Run.MemoryLog = []string{manifest}, "off"
		straight.Run.LogEvery, straight.Run.SaveEvery, straight.Run.EvalEvery, straight.Run.EarlyStop = c.log, c.save, c.eval, c.stop
		straight.Optimizer.MaxUpdates, straight.Optimizer.LearningRate = 8, 1e-2
		if c.stop > 0 {
			straight.Optimizer.MaxUpdates, straight.Optimizer.LearningRate, straight.Optimizer.WarmupUpdates = 50, 1e-12, 1
		}
		if err := os.MkdirAll(straight.Run.CheckpointDir, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(straight.Run.CheckpointDir, metricsFile), foreign)
		kills := &snapshots{t: t, dir: straight.Run.CheckpointDir}
		r := start(t, straight, kills)
		settle := r.ledger.settle
		r.ledger.settle = func() { // before each save, also one that nothing is said of
			settle()
			_, _ = kills.Write(nil)
		}
		mustEnd(t, r)
		r.close()
		result := r.result()
		want := figuresOf(t, straight.Run.CheckpointDir)
		if last := want[len(want)-1]; len(want) < 4 || last["update"] != float64(result.Updates) {
			t.Fatalf("%+v: the last of %d records is %v", c, len(want), last)
		}
		removed := 0
		for i, dir := range kills.taken {
			cfg := straight
			cfg.Run.CheckpointDir = dir
			if i%2 == 1 {
				f, err := os.OpenFile(filepath.Join(dir, metricsFile), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
				if err == nil {
					_, err = f.WriteString(`{"event":"update","time":"2`)
				}
				if err = errors.Join(err, f.Close()); err != nil {
					t.Fatal(err)
				}
			}
			said := mustRun(t, withResume(cfg))
			removed += strings.Count(said, "metrics.jsonl: the records of what came after update ")
			if diff := cmp.Diff(want, figuresOf(t, dir)); diff != "" {
				t.Fatalf("%+v, killed at moment %d:\n%s\n%s", c, i, diff, said)
			}
			if text := readFile(t, filepath.Join(dir, metricsFile)); !strings.HasPrefix(text, foreign) {
				t.Errorf("%+v, killed at moment %d: foreign lines are lost:\n%.300s", c, i, text)
			}
			mustEqualRun(t, dir, straight.Run.CheckpointDir, result.Updates)
		}
		if removed < 2 || len(kills.taken) < 12 {
			t.Errorf("%+v: %d kills, %d with something to remove: this test says little", c, len(kills.taken), removed)
		}
	}
}

// A run that ended between two records and goes on has those of the run that never ended there; the record of its end
// goes. One that is looked at again without going on keeps it.
func TestMetricsOfARunThatEndedEarly(t *testing.T) {
	straight := small(tiny(t, speak(t, babble(10, 3, 1)...)))
	straight.Run.LogEvery, straight.Optimizer.MaxUpdates = 3, 10
	mustRun(t, straight)
	cfg := elsewhere(t, straight)
	cfg.Optimizer.MaxUpdates = 5
	mustRun(t, cfg)
	updates := func(want ...int) {
		t.Helper()
		var got []int
		for _, r := range records(t, cfg.Run.CheckpointDir) {
			if r.Event == "update" {
				got = append(got, r.Update)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("records of updates %v, want %v", got, want)
		}
	}
	updates(3, 5)
	cfg = withResume(cfg)
	mustRun(t, cfg)
	updates(3, 5)
	cfg.Optimizer.MaxUpdates = 10
	mustRun(t, cfg)
	updates(3, 6, 9, 10)
	if diff := cmp.Diff(figuresOf(t, straight.Run.CheckpointDir), figuresOf(t, cfg.Run.CheckpointDir)); diff != "" {
		t.Error(diff)
	}
	all := records(t, cfg.Run.CheckpointDir)
	if last := all[len(all)-1]; last.Event != "save" {
		t.Errorf("the last record is %+v", last)
	}
	var says []int
	for _, r := range all {
		if r.Event == "start" && r.ResumedAt != nil {
			says = append(says, *r.ResumedAt, *r.LoggedAt)
		}
	}
	if !slices.Equal(says, []int{5, 5, 5, 3}) {
		t.Errorf("the sessions say that they go on at %v", says)
	}
}

// Runs that share a log_dir keep their records apart, and remove none of each other's; while one writes, the other
// removes nothing, and says so. A run that goes on elsewhere removes nothing of the one that it comes from.
func TestSharedMetrics(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks there")
	}
	manifest, logs := speak(t, babble(10, 3, 1)...), t.TempDir()
	config := func(updates int) Config {
		cfg := small(tiny(t, manifest))
		cfg.Run.LogDir, cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = logs, 2, updates
		return cfg
	}
	one, other := config(5), config(3)
	count := func(cfg Config) (updates []int) {
		for _, r := range records(t, logs) {
			if r.Event == "update" && r.Run == cfg.Run.CheckpointDir {
				updates = append(updates, r.Update)
			}
		}
		return updates
	}
	lose := func() { // the newest checkpoint of one
		remove(t, filepath.Join(one.Run.CheckpointDir, checkpoint.Name(one.Optimizer.MaxUpdates)))
	}
	mustRun(t, one)
	mustRun(t, other)
	lose()
	busy := start(t, other2(t, other, manifest), nil)
	testkit.MustContain(t, mustRun(t, withResume(one)), "WARNING: records in metrics.jsonl of what came after update 4 stay, and it is made again: another run writes to it")
	if got := count(one); !slices.Equal(got, []int{1, 2, 3, 4, 5, 5}) {
		t.Errorf("records of updates %v", got)
	}
	busy.close()
	lose()
	linked := filepath.Join(t.TempDir(), "elsewhere") // and the file itself is somewhere else
	if err := errors.Join(os.Rename(filepath.Join(logs, metricsFile), linked), os.Symlink(linked, filepath.Join(logs, metricsFile))); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, mustRun(t, withResume(one)), "metrics.jsonl: the records of what came after update 4 are removed (4)") // updates and saves
	if got, of := count(one), count(other); !slices.Equal(got, []int{1, 2, 3, 4, 5}) || !slices.Equal(of, []int{1, 2, 3}) {
		t.Errorf("records of updates %v, of the other run %v", got, of)
	}
	if to, err := os.Readlink(filepath.Join(logs, metricsFile)); to != linked {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	fork := elsewhere(t, other)
	fork.Run.Resume, fork.Optimizer.MaxUpdates = filepath.Join(other.Run.CheckpointDir, checkpoint.Name(2)), 4
	mustRun(t, fork)
	if got, of := count(fork), count(other); !slices.Equal(got, []int{3, 4}) || !slices.Equal(of, []int{1, 2, 3}) {
		t.Errorf("records of updates %v, of the run that it comes from %v", got, of)
	}
}

// Records are made durable before the checkpoint that a run would go on from behind them.
func TestMetricsAreSettledBeforeASave(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = 1, 3
	r := start(t, cfg, nil)
	settled, settle := 0, r.ledger.settle
	r.ledger.settle = func() {
		settle()
		all := records(t, cfg.Run.CheckpointDir)
		if there := len(steps(t, cfg.Run.CheckpointDir)); there != settled || all[len(all)-1].Event != "update" || all[len(all)-1].Update != settled+1 {
			t.Errorf("%d checkpoints are there, and the last record is %+v", there, all[len(all)-1])
		}
		settled++
	}
	mustEnd(t, r)
	if settled != 3 {
		t.Errorf("settled %d times", settled)
	}
}

// A log_dir that is checkpoint_dir, however it is written, holds this run's records alone.
func TestMetricsOfOneFolder(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.LogDir = filepath.Dir(cfg.Run.CheckpointDir) + "/./" + filepath.Base(cfg.Run.CheckpointDir)
	if r := start(t, cfg, nil); r.logRun() != "" {
		t.Errorf("they are those of %q", r.logRun())
	}
}

// other2 is a third run beside another one.
func other2(t *testing.T, cfg Config, manifest string) Config {
	cfg = elsewhere(t, cfg)
	cfg.Data.TrainManifest = []string{manifest}
	return cfg
}

// Which lines go: a table of small files, "-" before the lines that do.
func TestFindBehind(t *testing.T) {
	line := func(event string, more string) string {
		return `{"event":"` + event + `","time":"t"` + more + "}\n"
	}
	at := func(event string, update int) string { return line(event, fmt.Sprintf(`,"update":%d`, update)) }
	begin := line("start", `,"update":0`)
	for name, lines := range map[string][]string{
		"nothing":                  {begin, at("update", 2), at("update", 4), at("validation", 4), at("save", 4)},
		"later ones":               {begin, at("update", 4), "-" + at("update", 5), "-" + at("validation", 6), "-" + at("save", 6), "-" + at("memory", 6), "-" + at("update", 7)},
		"a torn line":              {begin, at("update", 4), "-" + `{"event":"upd`},
		"another's torn line":      {begin, at("update", 4), `{"even`},
		"without its end":          {begin, at("update", 4), "-" + strings.TrimSpace(at("update", 5))},
		"an earlier run's":         {begin, at("update", 9), begin, at("update", 3)},
		"one that came from there": {begin, at("update", 9), line("start", `,"update":4,"resumed_at":4,"from":"x"`), at("update", 3), "-" + at("update", 5)},
		"of an end that is gone":   {begin, at("update", 4), line("test", `,"wer":3`), "-" + at("update", 5), "-" + line("test", ""), "-" + line("average", `,"updates":[3,5]`)},
		"of an end that stays":     {begin, at("update", 4), at("save", 4), line("average", `,"updates":[3,4]`), line("test", "")},
		"foreign ones":             {begin, "\n", "x\n", `{"event":"update","update":9}` + "\n", line("update", `,"update":9,"run":"r"`), line("update", `,"update":"9"`)},
		"not removed before": {begin, at("update", 3), "-" + at("update", 4), line("start", `,"update":2,"resumed_at":2,"logged_at":3`),
			at("update", 4), "-" + at("update", 5)},
	} {
		var text, want strings.Builder
		for _, l := range lines {
			rest, gone := strings.CutPrefix(l, "-")
			text.WriteString(rest)
			if !gone {
				want.WriteString(rest)
			}
		}
		in := strings.NewReader(text.String())
		gone, _, err := findBehind(in, "", place{4, 4, 4})
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := copyWithout(&got, in, gone); err != nil || got.String() != want.String() {
			t.Errorf("%s: left is\n%swant\n%s(%v)", name, got.String(), want.String(), err)
		}
	}
	for saves, want := range []int{2, 0} { // a run without a checkpoint begins anew, but not one whose checkpoints are gone
		text := begin + at("update", 1) + at("update", 2) + strings.Repeat(at("save", 2), saves)
		if gone, _, err := findBehind(strings.NewReader(text), "", place{}); err != nil || len(gone) != want {
			t.Errorf("%d lines of\n%s go, %v", len(gone), text, err)
		}
	}
	if gone, _, err := findBehind(strings.NewReader(at("update", 4)+at("validation", 4)+at("save", 4)), "", place{4, 3, 3}); err != nil || len(gone) != 2 {
		t.Errorf("%d lines go, %v", len(gone), err)
	}
}

// Whatever is in the file, only whole lines go, those of this run with a place behind its own, and all of them at once.
func FuzzFindBehind(f *testing.F) {
	f.Add([]byte("{\"event\":\"update\",\"time\":\"t\",\"update\":7}\n"), "", 4)
	f.Add([]byte(foreign+"{\"event\":\"upd"), "", 4)
	f.Add([]byte("{\"event\":\"save\",\"time\":\"t\",\"update\":7,\"run\":\"r\"}\nx"), "r", 2)
	f.Fuzz(func(t *testing.T, text []byte, run string, updates int) {
		p := place{updates, updates, updates}
		gone, _, err := findBehind(bytes.NewReader(text), run, p)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(0)
		for _, l := range gone {
			whole := (l.start == 0 || text[l.start-1] == '\n') && (text[l.end-1] == '\n' || l.end == int64(len(text)))
			if l.start < at || l.end <= l.start || !whole || l.Run != run {
				t.Fatalf("%q: line %d to %d", text, l.start, l.end)
			}
			at = l.end
		}
		var rest bytes.Buffer
		if err := copyWithout(&rest, bytes.NewReader(text), gone); err != nil {
			t.Fatal(err)
		}
		if again, _, err := findBehind(bytes.NewReader(rest.Bytes()), run, p); err != nil || len(again) > 0 {
			t.Fatalf("%q: then %q, of which %d lines go, %v", text, rest.Bytes(), len(again), err)
		}
	})
}

// Records that can't be removed, or made durable, are no reason to stop.
func TestMetricsThatStay(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	path := filepath.Join(cfg.Run.CheckpointDir, metricsFile)
	write(t, path, readFile(t, path)+"{\"event\":\"update\",\"time\":\"t\",\"update\":9}\n")
	if err := os.Mkdir(path+checkpoint.PartialSuffix, 0o777); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	r := start(t, cfg, &said)
	mustContainOnce(t, said.String(), "WARNING: records in metrics.jsonl of what came after update 2 stay, and it is made again: ")
	r.metrics.file.Close()
	r.settle()
	mustContainOnce(t, said.String(), "WARNING: metrics.jsonl can't be written any more, the run goes on without it: ")
	r.settle()
	if n, last, err := forget(t.TempDir(), "", place{}); n != 0 || last != 0 || err != nil {
		t.Errorf("without a file: %d, %d, %v", n, last, err)
	}
}
