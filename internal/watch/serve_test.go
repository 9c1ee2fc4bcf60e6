package watch

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"

	"konkanitrain/data"
	"konkanitrain/internal/scores"
	"konkanitrain/internal/testkit"
)

// curves are those of a state, as the page reads them.
type curves map[string]json.RawMessage

type gotRun struct {
	runState
	Training, Validation curves
}

func stateOf(t testing.TB, s *Server, query string) (runs []gotRun) {
	t.Helper()
	code, body, head := get(t, s, "/state"+query)
	if code != 200 || head.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", code, body)
	}
	var got struct{ Runs []gotRun }
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return got.Runs
}

// column is a figure of a run's curves.
func column(t testing.TB, c curves, name, key string) (values []float64) {
	t.Helper()
	text := c[name]
	if key != "" {
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			t.Fatalf("%s: %v in %s", name, err, text)
		}
		text = parts[key]
	}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatalf("%s %s: %v in %s", name, key, err, text)
	}
	return values
}

// No curve of a run is empty, and each is as long as the others; a long one comes in few points with its ends.
func TestStateHasAllCurves(t *testing.T) {
	s := serve(t, sourceOf(aRun(t, 1000), holding()))
	for _, points := range []int{2000, 400, 7, 1} {
		run := stateOf(t, s, fmt.Sprintf("?points=%d", points))[0]
		updates := column(t, run.Training, "update", "")
		if n := len(updates); n == 0 || n > points || updates[n-1] != 10000 || run.Update != 10000 || !run.Live {
			t.Fatalf("%d points: %v, %+v", points, updates, run.runState)
		}
		for _, name := range figures {
			if name == "ce" { // a network without a decoder has none
				continue
			}
			if got := column(t, run.Training, name, "mean"); len(got) != len(updates) {
				t.Errorf("%d points: %d of %s", points, len(got), name)
			}
		}
		scored := column(t, run.Validation, "update", "")
		for _, name := range rates {
			if got := column(t, run.Validation, name, "mean"); len(got) != len(scored) || len(got) == 0 {
				t.Errorf("%d points: %d of %s", points, len(got), name)
			}
		}
		if points < 1000 {
			low, high := column(t, run.Training, "loss", "low"), column(t, run.Training, "loss", "high")
			if slices.Min(low) != 2 || slices.Max(high) != 19.982 {
				t.Errorf("%d points: the loss goes from %v to %v", points, slices.Min(low), slices.Max(high))
			}
		}
	}
	// A part comes as finely as there are records.
	run := stateOf(t, s, "?points=400&from=5000&to=5100")[0]
	if got := column(t, run.Training, "update", ""); len(got) != 13 || got[0] != 4990 || got[12] != 5110 {
		t.Errorf("%v", got)
	}
}

// What a viewer has isn't sent again; a new record is.
func TestStateIsSentOnce(t *testing.T) {
	dir := aRun(t, 20)
	s := serve(t, sourceOf(dir, nil))
	_, body, head := get(t, s, "/state")
	ask := func() (code int, text string) {
		r, err := http.NewRequest("GET", s.listener.URL+"state", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("If-None-Match", head.Get("ETag"))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text = answer.Header.Get("ETag")
		return answer.StatusCode, text
	}
	s.fresh()
	if code, _ := ask(); code != http.StatusNotModified {
		t.Errorf("%d for what is known", code)
	}
	add(t, dir, metricsFile, updateLine(210, 1.5))
	s.fresh()
	if code, tag := ask(); code != 200 || tag == head.Get("ETag") {
		t.Errorf("%d for what is new", code)
	}
	if _, now, _ := get(t, s, "/state"); now == body || !strings.Contains(now, `"update":210`) {
		t.Errorf("%s", now)
	}
}

func TestMemoryIsSent(t *testing.T) {
	s := serve(t, sourceOf(aRun(t, 20), holding()), sourceOf(aRun(t, 20), nil), sourceOf(t.TempDir(), nil))
	var got [3]struct {
		Now  *struct{ Holders []Amount }
		Step *Step
	}
	for i := range got {
		code, body, _ := get(t, s, fmt.Sprintf("/memory?run=%d", i))
		if err := json.Unmarshal([]byte(body), &got[i]); err != nil || code != 200 {
			t.Fatal(code, err, body)
		}
	}
	if g := got[0]; g.Now == nil || len(g.Now.Holders) != 2 || g.Step == nil || len(g.Step.Parts) != 2 || g.Step.Parts[1].Held[1] != 2e6 {
		t.Errorf("%+v", g)
	}
	if got[1].Now != nil || got[1].Step == nil || got[2].Step != nil {
		t.Errorf("%+v", got)
	}
	if code, body, _ := get(t, s, "/memory?run=3"); code != 404 || !strings.Contains(body, "whole number from 0 to 2") {
		t.Errorf("%d %s", code, body)
	}
}

func TestWorstIsSent(t *testing.T) {
	dir := aRun(t, 20)
	s := serve(t, sourceOf(dir, nil))
	list := func(query string) (w worstList) {
		t.Helper()
		code, body, _ := get(t, s, "/worst"+query)
		if err := json.Unmarshal([]byte(body), &w); err != nil || code != 200 {
			t.Fatal(code, err, body)
		}
		return w
	}
	if w := list(""); w.Update != 200 || len(w.Worst) != 1 || !slices.Equal(w.Updates, []int{100, 200}) || w.Utterances != 80 || w.Wrong != 7 {
		t.Errorf("%+v", w)
	}
	w := list("?update=100")
	if len(w.Worst) != 2 || w.Worst[1].Name != "utt1" || w.Worst[1].Where != "dev.jsonl:2" || *w.Worst[1].Loss != 2.5 || w.Worst[1].Chars.Errors() != 3 {
		t.Errorf("%+v", w)
	}
	// The kssa is one letter to readers, and stands against one.
	want := []scores.Pair{{Ref: "क्ष", Hyp: "क"}, {Ref: "ण", Hyp: "ण"}, {Ref: " ", Hyp: " "}, {Ref: "आ", Hyp: "आ"}, {Ref: "सा", Hyp: "सा"}, {Ref: "", Hyp: "य"}}
	if !slices.Equal(w.Worst[0].Together, want) {
		t.Errorf("%q", w.Worst[0].Together)
	}
	if w := list("?update=150"); len(w.Worst) != 0 || len(w.Updates) != 2 {
		t.Errorf("%+v", w)
	}
	add(t, dir, validationsFile, utterances(300))
	s.fresh()
	if w := list(""); w.Update != 300 || len(w.Worst) != 0 {
		t.Errorf("%+v", w)
	}
	// The run has gone back, and made that validation again.
	add(t, dir, validationsFile, utterances(200, "x.wav"))
	s.fresh()
	if w := list(""); w.Update != 200 || !slices.Equal(w.Updates, []int{100, 200}) {
		t.Errorf("%+v", w)
	}
	if w := list("?update=300"); len(w.Worst) != 0 || w.Update != 0 {
		t.Errorf("%+v", w)
	}
	write(t, dir, validationsFile, `{"event":"start","time":"2026-01-02T03:00:00Z","update":0}`+"\n")
	s.fresh()
	if w := list(""); len(w.Updates) != 0 || w.Worst == nil {
		t.Errorf("%+v", w)
	}
}

// A sound is the part of the recording that the list names, as a WAV file, whole or in parts.
func TestSoundIsSent(t *testing.T) {
	s := serve(t, sourceOf(aRun(t, 20), nil))
	code, wav, head := get(t, s, "/sound?update=100&utterance=1")
	if code != 200 || head.Get("Content-Type") != "audio/wav" || !strings.HasPrefix(wav, "RIFF") {
		t.Fatalf("%d %.100s", code, wav)
	}
	if rate := binary.LittleEndian.Uint32([]byte(wav[24:])); rate != 8000 || len(wav) != 44+2*4000 { // 0.5 s
		t.Errorf("%d bytes at %d Hz", len(wav), rate)
	}
	r, err := http.NewRequest("GET", s.listener.URL+"sound?update=100&utterance=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Range", "bytes=44-1043")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusPartialContent || answer.ContentLength != 1000 {
		t.Errorf("%d, %d bytes", answer.StatusCode, answer.ContentLength)
	}
}

// What is named and is no sound can't be had, whatever it is: its bytes never leave.
func TestOnlySoundIsSent(t *testing.T) {
	dir := aRun(t, 20)
	secret := filepath.Join(dir, "secret")
	write(t, dir, "secret", "RIFF-konkani-secret, and more than a header's bytes of it, but no sound at all")
	link := filepath.Join(dir, "link.wav")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	write(t, dir, validationsFile, utterances(100, secret, link, dir, "/etc/passwd", filepath.Join(dir, "none.wav"), "", "/dev/zero", "shards.tar: a.wav"))
	s := serve(t, sourceOf(dir, nil))
	for i := range 8 {
		code, body, _ := get(t, s, fmt.Sprintf("/sound?utterance=%d", i))
		if code != 404 || strings.Contains(body, "konkani-secret") || strings.Contains(body, "root:") {
			t.Errorf("%d: %d %s", i, code, body)
		}
	}
	write(t, dir, validationsFile, utterances(100, "wav/none.wav"))
	s.fresh()
	if code, body, _ := get(t, s, "/sound?utterance=0"); code != 404 || !strings.Contains(body, "start watch there to hear it") {
		t.Errorf("a path from another folder: %d %s", code, body)
	}
	// A part that there isn't.
	for _, part := range []string{`"offset":-1`, `"offset":1e300`, `"offset":77`} {
		sound := filepath.Join(t.TempDir(), "x.wav")
		testkit.WriteWAV(t, sound, 8000, make([]int, 8000))
		write(t, dir, validationsFile, strings.Replace(utterances(100, sound), `"offset":0.25`, part, 1))
		s.fresh()
		if code, body, _ := get(t, s, "/sound?utterance=0"); code != 404 {
			t.Errorf("%s: %d %.100s", part, code, body)
		}
	}
}

// Of sounds few are in hand at a time: one that nobody takes doesn't keep more than its place.
func TestFewSounds(t *testing.T) {
	source := sourceOf(aRun(t, 20), nil)
	reading, leave := make(chan struct{}, 10), make(chan struct{})
	source.Find = func(*scores.Utterance) *data.Utterance { reading <- struct{}{}; <-leave; return nil }
	s := serve(t, source)
	codes := make(chan int, 10)
	for range mostSounds + 1 {
		go func() {
			code, _, _ := get(t, s, "/sound?update=100&utterance=0")
			codes <- code
		}()
	}
	<-reading
	if code := <-codes; code != http.StatusServiceUnavailable {
		t.Errorf("%d for one too many", code)
	}
	if len(reading) > 0 {
		t.Error("two sounds are decoded at a time")
	}
	if code, _, _ := get(t, s, "/state"); code != 200 {
		t.Errorf("%d for others meanwhile", code)
	}
	close(leave)
	for range mostSounds {
		if code := <-codes; code != 200 {
			t.Errorf("%d", code)
		}
	}
}

// All figures are there, each with a type and the name of its run; Prometheus's format allows nothing else.
func TestMetrics(t *testing.T) {
	live := sourceOf(aRun(t, 20), holding())
	live.Name = `runs/"a\b` + "\n"
	s := serve(t, live, sourceOf(aRun(t, 30), nil))
	code, text, head := get(t, s, "/metrics")
	if code != 200 || !strings.HasPrefix(head.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatal(code, head)
	}
	types := map[string]string{}
	values := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if types[name] != "" {
				t.Errorf("%s has its type twice", name)
			}
			types[name] = kind
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		name := line[:at]
		if err := metrics.ValidateMetric(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if family, _, _ := strings.Cut(name, "{"); types[family] != "gauge" {
			t.Errorf("%s is a %q", family, types[family])
		}
		values[name] = line[at+1:]
	}
	a, b := `run="runs/\"a\\b\n"`, fmt.Sprintf("run=%q", s.runs[1].Name)
	for name, want := range map[string]string{
		"konkanitrain_in_progress{" + a + "}": "1", "konkanitrain_in_progress{" + b + "}": "0", "konkanitrain_update{" + a + "}": "200", "konkanitrain_updates_planned{" + b + "}": "300",
		"konkanitrain_epoch{" + a + "}": "3", "konkanitrain_loss{" + a + `,part="total"}`: "2", "konkanitrain_loss{" + a + `,part="ctc"}`: "1", "konkanitrain_learning_rate{" + a + "}": "0.001",
		"konkanitrain_grad_norm{" + a + "}": "20", "konkanitrain_utterances_per_second{" + a + "}": "8", "konkanitrain_sound_seconds_per_second{" + a + "}": "30",
		"konkanitrain_wait_share{" + a + "}": "0.125", "konkanitrain_seconds_left{" + a + "}": "0", "konkanitrain_validation_word_error_rate{" + a + `,which="best"}`: "0.09999999999999998",
		"konkanitrain_validation_update{" + b + `,which="last"}`: "300", "konkanitrain_memory_allocated_bytes{" + a + "}": "6000000",
		"konkanitrain_memory_bytes{" + a + `,holder="decoded \"sound\""}`: "2000000",
	} {
		if got := values[name]; got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
}

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
	testkit.MustFail(t, err, "17 runs are too many")
}
