package watch

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// told is a history of these lines.
func told(t testing.TB, run string, text ...string) *history {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, metricsFile, strings.Join(text, ""))
	h := newHistory(dir, run)
	if err := h.read(); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistoryIsWhatWasWritten(t *testing.T) {
	h := told(t, "", startLine(100), updateLine(10, 8), updateLine(20, 6), validationLine(20, 0.5), updateLine(30, 4), validationLine(30, 0.75),
		`{"event":"save","time":"2026-01-02T03:00:30Z","update":30,"path":"runs/a/step-00000030"}`+"\n",
		`{"event":"test","time":"2026-01-02T03:00:30Z","weights":"best weights","wer":0.25,"cer":0.125,"loss":null}`+"\n")
	if h.last.Update != 30 || h.start.Total != 100 || h.saved != "runs/a/step-00000030" || *h.test.WER != 0.25 || h.test.Loss != nil {
		t.Errorf("%+v", h)
	}
	if h.best().Update != 20 || h.scored().Update != 30 || len(h.valid.last) != 2 || h.valid.mean[4+1] != 0.75 {
		t.Errorf("best %+v, last %+v, %v", h.best(), h.scored(), h.valid.mean)
	}
	want := []float32{4, 2, unknown, 0.001, 40, 8, 30, 0.125, 9e7, 9.9e7}
	for k, v := range want {
		if got := h.trained.mean[2*len(figures)+k]; got != v && !(isNaN(v) && isNaN(got)) {
			t.Errorf("%s is %v, want %v", figures[k], got, v)
		}
	}
	if math.Abs(h.trained.trained()-6.0/3600) > 1e-12 {
		t.Errorf("%v h of training", h.trained.trained())
	}
	// 30 updates in 30 s, 70 to come.
	if left, known := h.left(); !known || left != 70 || h.ended() {
		t.Errorf("%v s left, %v", left, known)
	}
}

func TestTimeLeft(t *testing.T) {
	sorted := strings.Replace(startLine(100), `"sort_first_epochs":0`, `"sort_first_epochs":1`, 1)
	for name, c := range map[string]struct {
		lines []string
		known bool
	}{
		"nothing made":              {[]string{startLine(100)}, false},
		"an older run":              {[]string{startLine(0), updateLine(10, 1)}, false},
		"in a sorted epoch":         {[]string{sorted, updateLine(10, 1)}, false},
		"behind it":                 {[]string{sorted, updateLine(10, 1), updateLine(100, 1)}, true},
		"without a record of start": {[]string{updateLine(10, 1)}, false},
	} {
		if _, known := told(t, "", c.lines...).left(); known != c.known {
			t.Errorf("%s: known %v", name, known)
		}
	}
	if h := told(t, "", startLine(100), updateLine(100, 1)); !h.ended() {
		t.Error("it has ended")
	}
}

// A session that goes on takes the place of what was made behind its checkpoint; a new run that of all before.
func TestHistoryGoesOn(t *testing.T) {
	resumed := `{"event":"start","time":"2026-01-02T04:00:00Z","update":20,"resumed_at":20,"logged_at":10,"total":100,"config":{}}` + "\n"
	h := told(t, "", startLine(100), updateLine(10, 8), updateLine(20, 6), validationLine(20, 0.5), updateLine(30, 4), validationLine(30, 0.1),
		`{"event":"test","wer":0.1}`+"\n", resumed)
	if h.last.Update != 0 || h.test != nil || h.best().Update != 20 || h.scored().Update != 20 {
		t.Errorf("what is made again is still there: %+v", h)
	}
	add(t, filepath.Dir(h.tail.path), metricsFile, updateLine(20, 7)+updateLine(40, 3))
	if err := h.read(); err != nil {
		t.Fatal(err)
	}
	if n := len(h.trained.last); n != 3 || h.trained.last[1] != 20 || h.trained.mean[len(figures)] != 7 || h.trained.last[2] != 40 {
		t.Errorf("%v, %v", h.trained.last, h.trained.mean)
	}
	if n := len(h.valid.last); n != 1 {
		t.Errorf("%d validations", n)
	}
	h = told(t, "", startLine(100), updateLine(10, 8), validationLine(10, 0.5), startLine(50), updateLine(10, 1))
	if len(h.trained.last) != 1 || len(h.valid.last) != 0 || h.best() != nil || h.start.Total != 50 {
		t.Errorf("the earlier run is still there: %+v", h)
	}
}

// The best validation is the run's: early in a training characters decide, or with best_by the loss.
func TestBestIsTheRuns(t *testing.T) {
	best := func(update int, wer float64) string {
		return strings.Replace(validationLine(update, wer), `"update":`, `"best":true,"update":`, 1)
	}
	lines := []string{startLine(100), best(10, 1), best(20, 1), validationLine(30, 0.9), `{"event":"validation","update":35}` + "\n"}
	if h := told(t, "", lines...); h.best().Update != 20 || h.scored().Update != 35 {
		t.Errorf("%+v", h.best())
	}
	if h := told(t, "", append(lines, best(40, 0.95), validationLine(50, 0.5))...); h.best().Update != 40 {
		t.Errorf("%+v", h.best())
	}
	if h := told(t, "", lines[0], lines[3], lines[4], validationLine(40, 0.9)); h.best().Update != 30 {
		t.Errorf("of older records %+v", h.best())
	}
}

// Of very many validations the last and the best are known.
func TestBestOfManyValidations(t *testing.T) {
	text := []string{startLine(10 * mostValidations)}
	for i := 1; i <= 3*mostValidations; i++ {
		text = append(text, validationLine(i, 0.5+math.Abs(float64(i-5))/1e4))
	}
	h := told(t, "", text...)
	if n := len(h.scores); n != mostValidations || h.best().Update != 5 || h.scored().Update != 3*mostValidations {
		t.Errorf("%d are known, best %+v, last %+v", n, h.best(), h.scored())
	}
}

// A value beyond what is drawn hides no others.
func TestHugeValues(t *testing.T) {
	huge := strings.Replace(updateLine(20, 3), `"grad_norm":30,`, `"grad_norm":1e39,`, 1)
	h := told(t, "", startLine(100), updateLine(10, 1), huge, updateLine(30, 5))
	p, norm := h.trained.view(0, 3, 1), 4 // grad_norm
	if got := p.mean[norm]; !(got > 10 && got < 50) || p.high[norm] != 50 {
		t.Errorf("the mean of 10, 1e39 and 50 is %v, the highest %v", got, p.high[norm])
	}
}

// Other runs' records, cut lines and nonsense change nothing.
func TestHistoryPassesOver(t *testing.T) {
	other := strings.Replace(updateLine(50, 1), `"update",`, `"update","run":"/runs/b",`, 1)
	h := told(t, "", startLine(100), updateLine(10, 8), other, "\n", "{\n", `{"event":"update","update":"x"}`+"\n", "[1]\n", `{"event":5}`+"\n",
		`{"event":"later","time":"2026-01-02T03:00:00Z"}`+"\n", updateLine(5, 3), updateLine(20, 6), `{"event":"update","time":"2026-01-02T03:00:30Z","upd`)
	if len(h.trained.last) != 2 || h.last.Update != 20 {
		t.Errorf("%v", h.trained.last)
	}
	if h := told(t, "/runs/b", startLine(100), updateLine(10, 8), other); len(h.trained.last) != 1 || h.last.Update != 50 {
		t.Errorf("%v", h.trained.last)
	}
}

// What one record after the other tells is what all of them tell.
func TestHistoryByPieces(t *testing.T) {
	dir := t.TempDir()
	h := newHistory(dir, "")
	version := h.version
	all := []string{startLine(100), updateLine(10, 8), validationLine(10, 1), updateLine(20, 6)}
	for _, line := range all {
		for _, part := range []string{line[:7], line[7:]} {
			add(t, dir, metricsFile, part)
			if err := h.read(); err != nil {
				t.Fatal(err)
			}
		}
		if h.version == version {
			t.Errorf("%s: nothing is new", line)
		}
		version = h.version
	}
	want := told(t, "", all...)
	if h.last.Update != want.last.Update || len(h.trained.last) != 2 || len(h.valid.last) != 1 {
		t.Errorf("%+v", h)
	}
}

// Whatever a run's files hold, what is sent is JSON.
func FuzzState(f *testing.F) {
	f.Add(startLine(10) + updateLine(10, 1))
	f.Add(`{"event":"update","update":1,"loss":1e300,"memory":{"allocated":-1e308}}` + "\n" + `{"event":"validation","update":9223372036854775807,"wer":1e999}` + "\n")
	f.Add(`{"event":"start","total":-5,"resumed_at":-7}` + "\n" + `{"event":"update","update":2,"seconds":1e-320,"audio":1e300}` + "\n" + `{"event":"save","path":"\u0000<\ud800>"}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		write(t, dir, metricsFile, text)
		write(t, dir, validationsFile, text)
		write(t, dir, StepFile, text)
		r := newShown(Source{Name: dir, Logs: dir, Dir: dir})
		r.read()
		r.readStep()
		for _, v := range []view{{400, 0, math.MaxInt}, {1, 5, 5}} {
			b, err := appendState(nil, []*shown{r}, v)
			if err == nil && !json.Valid(b) {
				t.Errorf("%s", b)
			}
		}
		if _, err := r.validation(-1); err != nil {
			t.Log(err)
		}
	})
}
