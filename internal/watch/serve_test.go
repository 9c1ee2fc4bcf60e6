package watch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/control"
	"konkanitrain/internal/scores"
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
	elsewhere := t.TempDir()
	write(t, elsewhere, StepFile, `{"log_dir":"/home/me/logs","run":"/home/me/runs/a","kernels":7}`)
	s := serve(t, sourceOf(aRun(t, 20), holding()), sourceOf(aRun(t, 20), nil), sourceOf(t.TempDir(), nil), sourceOf(elsewhere, nil))
	if _, body, _ := get(t, s, "/memory?run=3"); !strings.Contains(body, `"kernels":7`) || strings.Contains(body, "/home") {
		t.Errorf("%s", body)
	}
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
	// It is made once for all who look.
	first, err := s.memory(s.runs[0])
	if again, wrong := s.memory(s.runs[0]); err != nil || wrong != nil || again != first {
		t.Error("it is made again")
	}
	s.runs[0].Info = func() *control.Info { return &control.Info{Allocated: 12345} }
	s.fresh()
	if again, err := s.memory(s.runs[0]); err != nil || !strings.Contains(string(again.body), `"allocated":12345,`) {
		t.Errorf("%s, %v", again.body, err)
	}
	if code, body, _ := get(t, s, "/memory?run=4"); code != 404 || !strings.Contains(body, "whole number from 0 to 3") {
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
