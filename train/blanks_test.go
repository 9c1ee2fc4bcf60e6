package train

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// validated is a validation of ten utterances, of which some have no text at all.
func validated(share float64, empty int) *recognize.Evaluation {
	return &recognize.Evaluation{BlankShare: share, Score: text.Score{Utterances: 10, EmptyHyps: empty}}
}

// blankRun is a run of 9 epochs of 4 updates, with a warm-up of 8 and an alarm from the 4th on. It is never made.
func blankRun(t *testing.T, out io.Writer) *run {
	cfg := small(tiny(t, speak(t, babble(16, 4, 1)...)))
	cfg.Data.ValManifest = []string{speak(t, babble(3, 4, 2)...)}
	cfg.Optimizer.NumEpochs, cfg.Optimizer.WarmupUpdates, cfg.Run.BlankAlarm = 9, 8, 4
	return start(t, cfg, out)
}

// What is few and what is many, and from when on: an empty output from blank_alarm on, the shares behind the warm-up
// too, and both behind a third of the run, and three epochs, at the latest.
func TestJudgeBlanks(t *testing.T) {
	r := blankRun(t, nil)
	for _, c := range []struct {
		alarm, warmup, epochs int
		at                    int // update of the validation
		share                 float64
		empty                 int
		want                  blanks
		known                 bool
	}{
		{4, 8, 9, 3, 1, 10, usualBlanks, false},
		{4, 8, 9, 4, 1, 10, onlyBlanks, true},
		{4, 8, 9, 4, 0.99, 9, usualBlanks, false},
		{4, 8, 9, 7, 0, 0, usualBlanks, false},
		{4, 8, 9, 8, 0, 0, fewBlanks, true},
		{4, 8, 9, 8, 0.0499, 0, fewBlanks, true},
		{4, 8, 9, 8, 0.05, 0, usualBlanks, true},
		{4, 8, 9, 8, 0.98, 9, usualBlanks, true},
		{4, 8, 9, 8, 0.9801, 9, manyBlanks, true},
		{10, 8, 9, 9, 0, 0, usualBlanks, false}, // blank_alarm is later than the warm-up
		{10, 8, 9, 10, 0, 0, fewBlanks, true},
		{500, 8, 9, 11, 1, 10, usualBlanks, false}, // a third of 36 updates, and three epochs
		{500, 8, 9, 12, 1, 10, onlyBlanks, true},
		{4, 30, 9, 11, 0, 0, usualBlanks, false},
		{4, 30, 9, 12, 0, 0, fewBlanks, true},
		{500, 8, 3, 11, 1, 10, usualBlanks, false}, // three epochs, which are all
		{500, 8, 3, 12, 1, 10, onlyBlanks, true},
		{500, 8, 90, 119, 0, 0, usualBlanks, false}, // a third of 360 updates
		{500, 8, 90, 120, 0, 0, fewBlanks, true},
		{500, 8, 9000, 499, 0, 0, usualBlanks, false},
		{500, 8, 9000, 500, 0, 0, fewBlanks, true},
		{0, 1, 9, 0, 1, 10, onlyBlanks, true},
	} {
		r.cfg.Run.BlankAlarm, r.cfg.Optimizer.NumEpochs, r.ledger.state.Warmup.Updates, r.updater.Updates = c.alarm, c.epochs, c.warmup, c.at
		if got, known := r.judgeBlanks(validated(c.share, c.empty)); got != c.want || known != c.known {
			t.Errorf("%+v: %q, known %v", c, got, known)
		}
	}
	r.updater.Updates = 1000
	if _, known := r.judgeBlanks(&recognize.Evaluation{Failed: 10}); known {
		t.Error("files that can't be read say something about blanks")
	}
}

// It is said once for each change: an alarm covers the warning of nearly the same, and what is usual again is told.
func TestBlanksAreSaidOnce(t *testing.T) {
	var out bytes.Buffer
	r := blankRun(t, &out)
	r.updater.Updates = 12
	var said blanks
	for i, c := range []struct {
		e    *recognize.Evaluation
		want string // "" for silence
	}{
		{validated(0.5, 0), ""},
		{validated(0.004, 0), "WARNING: after 12 updates blank is the likeliest in 0.4 % of the frames of 10 validation utterances only, less than 5 %: the network hardly ever says blank"},
		{validated(0.003, 0), ""},
		{&recognize.Evaluation{Failed: 10}, ""},
		{validated(0.2, 0), "after 12 updates blank is the likeliest in 20.0 % of the frames of 10 validation utterances, as is usual"},
		{validated(0.21, 0), ""},
		{validated(0.99, 8), "WARNING: after 12 updates blank is the likeliest in 99.0 % of the frames of 10 validation utterances, more than 98 %: hardly anything but blank comes out, and nothing at all for 8 of them; "},
		{validated(1, 10), "ALARM: after 12 updates the output is empty for all 10 validation utterances; 100.0 % of the frames are blank. Likely causes: "},
		{validated(0.99, 9), ""},
		{validated(1, 10), ""},
		{validated(0.01, 0), "WARNING: after 12 updates blank is the likeliest in 1.0 % "},
	} {
		out.Reset()
		r.sayBlanks(c.e, &said)
		if got := out.String(); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") > 1 {
			t.Errorf("validation %d: %q is said, want %q", i, got, c.want)
		}
	}
}

// The warning of few blanks has the numbers that it can be judged by: where letters are nearly as many as frames, there
// is no room for blanks.
func TestRoomForBlanks(t *testing.T) {
	r := blankRun(t, nil)
	set := r.sets.val.set
	tokens, encoded := 0, 0
	for i := range set.Len() {
		tokens += len(set.At(i).Tokens)
		encoded += (set.At(i).Frames + 3) / 4
	}
	want := fmt.Sprintf("the texts have %.1f tokens for 100 frames", 100*float64(tokens)/float64(encoded))
	if got := r.density(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.cfg.Model.Subsampling, r.net.Subsampling = 8, 8
	testkit.MustContain(t, r.density(), " tokens for 100 frames, so that at a subsampling of 8 there is little room for blanks")
}

// What helps against few blanks isn't advised to a run that has it.
func TestFewBlanksCure(t *testing.T) {
	r := blankRun(t, nil)
	const usual = "begin anew with blank_bias 3 and branch_shrink 0.8"
	testkit.MustContain(t, r.fewBlanksCure(), usual)
	r.cfg.Model.BlankBias, r.cfg.Model.BranchShrink = 3, 0.5
	testkit.MustContain(t, r.fewBlanksCure(), "this one began with blank_bias 3 and branch_shrink 0.5: begin anew with more of both")
	r.cfg.Run.InitFrom = "model.safetensors" // whose blank has a bias of its own
	testkit.MustContain(t, r.fewBlanksCure(), usual)
}

// Where only blanks come out, an alarm says so from blank_alarm updates on, and the score is 100 %.
func TestBlankAlarm(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(4, 4, 1)...)))
	lines := make([]spoken, 10)
	for i := range lines {
		lines[i] = spoken{id: fmt.Sprint("v", i), text: "ab cd"}
	}
	cfg.Data.ValManifest, cfg.Data.UnknownLimit = []string{speak(t, lines...)}, 1
	cfg.Run.EvalEvery, cfg.Run.BlankAlarm, cfg.Optimizer.MaxUpdates = 1, 2, 4
	r := start(t, cfg, &said)
	edit(t, r, "ctc.bias", func(w []float32) { w[0] = 1000 })
	mustLoop(t, r)
	e := r.ledger.state.Score
	if w := e.Score.Words; w.Errors() != 20 || w.Ref != 20 || e.WER != 1 || e.CER != 1 || e.BlankShare != 1 {
		t.Errorf("10 empty hypotheses against 20 words: %v", e)
	}
	mustContainOnce(t, said.String(), "ALARM")
	testkit.MustContain(t, said.String(), "ALARM: after 2 updates the output is empty for all 10 validation utterances; 100.0 % of the frames are blank",
		"learning_rate 0.001, warmup_updates 20", "too little data (4 utterances, 0.0 minutes)", "letters outside the vocabulary;", "a subsampling of 4")
	// Where letters are unknown that is a cause to name.
	r.sets.train.Report.Unknown.Letters, r.sets.train.Report.Unknown.Outside = 100, 3
	testkit.MustContain(t, r.blankCauses(), "letters outside the vocabulary (3 % of the letters are);")
}

// A run without blanks is told so once, also where it is resumed between, and each of its validations records it.
func TestFewBlanksAreSaidOnceInARun(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Data.ValManifest = []string{speak(t, babble(3, 4, 2)...)}
	cfg.Optimizer.WarmupUpdates, cfg.Run.BlankAlarm, cfg.Run.EvalEvery, cfg.Run.SaveEvery = 2, 2, 1, 3
	part := func(cfg Config, until int) string {
		cfg.Optimizer.MaxUpdates = until
		var said bytes.Buffer
		r := start(t, cfg, &said)
		if until == 3 {
			edit(t, r, "ctc.bias", func(w []float32) { w[0] = -1000 })
		}
		mustEnd(t, r)
		r.close()
		return said.String()
	}
	const warning = "WARNING: after 2 updates blank is the likeliest in 0.0 % of the frames of 3 validation utterances only, less than 5 %"
	testkit.MustContain(t, part(cfg, 3), warning, "(learning_rate 0.001, warmup_updates 2, 4 utterances in an update)")
	for _, until := range []int{4, 6, 7} {
		mustNotContain(t, part(withResume(cfg), until), "blank is the likeliest")
	}
	_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 7)
	if s.Blanks != fewBlanks {
		t.Errorf("the state keeps %q as said", s.Blanks)
	}
	records := readFile(t, filepath.Join(cfg.Run.CheckpointDir, metricsFile))
	if n := strings.Count(records, `"odd_blanks":"few"`); n != 6 || strings.Count(records, `"event":"validation"`) != 7 {
		t.Errorf("%d of 7 validations record few blanks, want all from the 2nd on:\n%s", n, records)
	}
}
