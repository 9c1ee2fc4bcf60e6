package recognize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// failing is a pass that breaks.
func failing(err error) runPass {
	return func(context.Context, []*data.Example, update.Ask) ([]update.Loss, error) { return nil, err }
}

// mustScore scores a manifest in windows of this size; each is what was made of each utterance.
func mustScore(t testing.TB, m *Model, manifest string, window int) (e *Evaluation, each []Hypothesis) {
	t.Helper()
	e, err := m.recognizer.Score(t.Context(), loader(t, m, manifest, window), func(h Hypothesis) error {
		each = append(each, h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Took = 0
	return e, each
}

// Losses of float32 kernels under OpenBLAS, which rounds by the number of rows: about 100 products in a row, 6e-8 each.
const productTolerance = 1e-5

// A set has the same losses, texts and counts in any window and with any number of workers, and they are the sums of
// those of its utterances.
func TestScoreIsTheSumOfItsParts(t *testing.T) {
	manifest, _ := speak(t, babble(23, 1))
	d := described(t)
	want, each := mustScore(t, random(t, d, 1), manifest, 1)
	var sum Evaluation
	for _, h := range each {
		sum.Loss += Nats(h.Loss)
		sum.Score.Add(h.Ref, h.Text)
	}
	if want.Score.Utterances != 23 || want.Loss != sum.Loss/23 || want.Score.Words != sum.Score.Words || want.Score.Chars != sum.Score.Chars ||
		want.WER != sum.Score.WER() || want.CER != sum.Score.CER() || want.Score.EmptyHyps > 10 {
		t.Errorf("%v, its parts %v", want, sum)
	}
	// 0.3 and 0.7 are not exact, and about ten roundings of 1.1e-16 lie between.
	if parts := 0.3*float64(want.CTC) + 0.7*float64(want.CE); !(math.Abs(float64(want.Loss)-parts) <= 2.2e-15*parts) {
		t.Errorf("the loss is %v, its parts make %v", want.Loss, parts)
	}
	for _, workers := range []int{1, 2, 3} {
		m := random(t, d, workers)
		for _, window := range []int{1, 4, 23, 50} {
			got, one := mustScore(t, m, manifest, window)
			if !(math.Abs(float64(got.Loss-want.Loss)) <= testkit.Products(productTolerance)*float64(want.Loss)) {
				t.Errorf("%d workers, windows of %d: loss %v, want %v", workers, window, got.Loss, want.Loss)
			}
			got.Loss, got.CTC, got.CE = want.Loss, want.CTC, want.CE
			if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); a != b {
				t.Errorf("%d workers, windows of %d: %s, want %s", workers, window, a, b)
			}
			for i := range each {
				if a, b := one[i], each[i]; a.Text != b.Text || a.Utt.ID != b.Utt.ID || a.Words != b.Words || a.Chars != b.Chars {
					t.Errorf("%d workers, windows of %d, utterance %d: %+v, want %+v", workers, window, i, a, b)
				}
			}
		}
	}
}

// A manifest and its files give the same texts.
func TestEvaluateAndTranscribeAgree(t *testing.T) {
	manifest, paths := speak(t, babble(40, 1))
	m := random(t, described(t), 2)
	var want []string
	e, report, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{PerUtterance: func(h Hypothesis) error {
		want = append(want, h.Text)
		return nil
	}})
	if err != nil || e.Score.Utterances != 40 || report.Kept != 40 || !(e.Took > 0) {
		t.Fatalf("%+v, %+v, %v", e, report, err)
	}
	if got := transcripts(t, m, paths...); !slices.Equal(got, want) {
		t.Errorf("%q as files, %q in a manifest", got, want)
	}
}

// Files that can't be read are left out of the rates, named and counted, whether that shows in the header or later.
func TestEvaluateLeavesOutWhatCanNotBeRead(t *testing.T) {
	lines := babble(15, 1)
	manifest, paths := speak(t, lines)
	if err := os.Remove(paths[2]); err != nil {
		t.Fatal(err)
	}
	write(t, paths[4], "no sound")
	nan(t, paths[6])
	m := random(t, described(t), 2)
	var said bytes.Buffer
	var failed []string
	var good float64
	e, report, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{Progress: &said, PerUtterance: func(h Hypothesis) error {
		if good += h.Loss; h.Err != nil {
			failed = append(failed, h.Utt.ID)
			if h.Text != "" || h.Words.Ref != 0 || h.Chars.Ref != 0 || h.Loss != 0 {
				t.Errorf("counted: %+v", h)
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(failed, []string{"utt0006"}) || e.Failed != 3 || e.FailedWords != 0 || e.FailedChars != 0 {
		t.Errorf("%q, %+v", failed, e)
	}
	seconds := 0.0
	for i, s := range lines {
		if i != 2 && i != 4 && i != 6 {
			seconds += float64(s.samples) / 16000
		}
	}
	if e.Score.Utterances != 12 || e.Score.Words.Ref != 12 || e.Loss != Nats(good)/12 || !(math.Abs(e.Audio-seconds) < 1e-9) {
		t.Errorf("%+v: want 12 utterances, loss %v, %v s", e, good/12, seconds)
	}
	if report.Lines != 15 || report.Kept != 12 || report.Count(data.Missing) != 1 || report.Count(data.Unreadable) != 2 {
		t.Errorf("%v", report)
	}
	testkit.MustContain(t, said.String(), paths[2], paths[4], "WARNING: 1 file of "+manifest+" can't be read any more", "utt0006")
	// The rest alone scores the same.
	list, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	rest := slices.DeleteFunc(strings.SplitAfter(string(list), "\n"), func(line string) bool {
		return strings.Contains(line, "0002.wav") || strings.Contains(line, "0004.wav") || strings.Contains(line, "0006.wav")
	})
	write(t, manifest, strings.Join(rest, ""))
	alone, _, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{})
	if err != nil || !(math.Abs(float64(alone.Loss-e.Loss)) <= testkit.Products(productTolerance)*float64(e.Loss)) || alone.Score.String() != e.Score.String() || alone.BlankShare != e.BlankShare {
		t.Errorf("%v alone, %v among what can't be read (%v)", alone, e, err)
	}
}

// nan makes a file of 32-bit floats that are no numbers, which its header doesn't show.
func nan(t testing.TB, path string) {
	t.Helper()
	const n = 8000
	le := func(v uint64, bytes int) (s string) {
		for i := range bytes {
			s += string([]byte{byte(v >> (8 * i))})
		}
		return s
	}
	samples := strings.Repeat("\x00\x00\xc0\x7f", n)
	write(t, path, "RIFF"+le(36+4*n, 4)+"WAVEfmt "+le(16, 4)+le(3, 2)+le(1, 2)+le(16000, 4)+le(64000, 4)+le(4, 2)+le(32, 2)+"data"+le(4*n, 4)+samples)
}

func TestEvaluationOfNothing(t *testing.T) {
	manifest, paths := speak(t, babble(4, 1))
	m := random(t, described(t), 1)
	l := loader(t, m, manifest, 4)
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	e, err := m.recognizer.Score(t.Context(), l, nil)
	if err != nil || !e.NothingRead() || e.Failed != 4 || !math.IsNaN(float64(e.Loss)) {
		t.Fatalf("%+v, %v", e, err)
	}
	testkit.MustContain(t, e.String(), "4 files failed")
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var again Evaluation
	if err := json.Unmarshal(b, &again); err != nil || !math.IsNaN(float64(again.Loss)) || !again.NothingRead() {
		t.Errorf("%s became %+v, %v", b, again, err)
	}
	if (&Evaluation{}).NothingRead() {
		t.Error("an evaluation without failures has read nothing")
	}
}

func TestScoreStops(t *testing.T) {
	manifest, _ := speak(t, babble(10, 1))
	m := random(t, described(t), 1)
	l := loader(t, m, manifest, 2)
	full := errors.New("disk full")
	n := 0
	if _, err := m.recognizer.Score(t.Context(), l, func(Hypothesis) error { n++; return full }); !errors.Is(err, full) || n != 1 {
		t.Errorf("%d results, %v", n, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	n = 0
	_, err := m.recognizer.Score(ctx, l, func(Hypothesis) error {
		if n++; n == 2 {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 2 {
		t.Errorf("%d results after a stop at the second: %v", n, err)
	}
	if _, _, err := m.Evaluate(ctx, manifest, EvaluateOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
	broken := errors.New("broken")
	m.recognizer.run = failing(broken)
	if _, err := m.recognizer.Score(t.Context(), l, nil); !errors.Is(err, broken) {
		t.Errorf("a pass that breaks: %v", err)
	}
	if _, _, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{}); !errors.Is(err, broken) {
		t.Errorf("a pass that breaks: %v", err)
	}
}

func TestEvaluateRefusesBadInput(t *testing.T) {
	manifest, _ := speak(t, babble(3, 1))
	m := random(t, described(t), 1)
	_, _, err := m.Evaluate(t.Context(), manifest+".none", EvaluateOptions{})
	testkit.MustFail(t, err, "manifest.jsonl.none")
	_, _, err = m.Evaluate(t.Context(), manifest, EvaluateOptions{PathMap: []string{"foo"}})
	testkit.MustFail(t, err, "path_map")
	list, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	write(t, manifest, string(list)+"{\n")
	_, _, err = m.Evaluate(t.Context(), manifest, EvaluateOptions{})
	testkit.MustFail(t, err, "line 4", "skip_bad_lines")
	if e, report, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{SkipBadLines: true}); err != nil || e.Score.Utterances != 3 || report.Lines != 4 {
		t.Errorf("%v, %v, %v", e, report, err)
	}
	_, _, err = m.Evaluate(t.Context(), manifest, EvaluateOptions{SkipBadLines: true, BadLineLimit: 0.1})
	testkit.MustFail(t, err, "1 of 4 lines are bad")
	m.Description.Features.SampleRate = 1
	_, _, err = m.Evaluate(t.Context(), manifest, EvaluateOptions{SkipBadLines: true})
	testkit.MustFail(t, err, "sample_rate")
}

// Letters outside the vocabulary are errors of the model, and no reason to refuse.
func TestEvaluateUnknownLetters(t *testing.T) {
	manifest, _ := speak(t, []spoken{{"xyz", 16000}, {"abc", 16000}})
	m := random(t, described(t), 1)
	e, _, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{})
	if err != nil || e.Score.Utterances != 2 || e.Score.Chars.Errors() < 3 {
		t.Errorf("%v, %v", e, err)
	}
}

func TestTroublesAreSaid(t *testing.T) {
	e := &Evaluation{Failed: 7, NonFinite: 1, Infeasible: 2, failures: strings.Split("a b c d e f g", " "), nonFinite: []string{"u1"}}
	e.Score.Utterances = 3
	said := strings.Join(e.Troubles("dev.jsonl"), "\n")
	testkit.MustContain(t, said, "WARNING: 7 files of dev.jsonl", "a, b, c, d, e and 2 more", "ALARM: the loss of 1 of 3 utterances of dev.jsonl", "u1")
	testkit.MustContain(t, e.String(), "2 too short for CTC", "1 without a finite loss", "7 files failed")
	if said := (&Evaluation{}).Troubles("dev.jsonl"); said != nil {
		t.Errorf("%q of nothing", said)
	}
}

// A loss that is no number is named, and the mean is none.
func TestScoreNamesLossesThatAreNotFinite(t *testing.T) {
	manifest, _ := speak(t, babble(4, 1))
	m := random(t, described(t), 1)
	run := m.recognizer.run
	m.recognizer.run = func(ctx context.Context, w []*data.Example, ask update.Ask) ([]update.Loss, error) {
		losses, err := run(ctx, w, ask)
		losses[2].Total = math.Inf(1)
		losses[3].Infeasible = true
		return losses, err
	}
	e, _ := mustScore(t, m, manifest, 4)
	if e.NonFinite != 1 || e.Infeasible != 1 || !math.IsInf(float64(e.Loss), 1) {
		t.Errorf("%+v", e)
	}
	testkit.MustContain(t, strings.Join(e.Troubles("x"), ""), "utt0002")
	if b, err := json.Marshal(e.Loss); err != nil || string(b) != "null" {
		t.Errorf("%s, %v", b, err)
	}
}

// What is too short for CTC has no loss of CTC, and none in the mean.
func TestScoreWithoutAlignment(t *testing.T) {
	lines := babble(3, 1)
	manifest, _ := speak(t, append(lines[:3:3], spoken{"abababababababababababababababababab", 1600}))
	without, _ := speak(t, lines)
	m := random(t, described(t), 1)
	e, hyps := mustScore(t, m, manifest, 4)
	want, _ := mustScore(t, m, without, 4)
	if e.Infeasible != 1 || len(hyps) != 4 || !hyps[3].Infeasible || hyps[0].Infeasible {
		t.Fatalf("%+v", e)
	}
	weight := Nats(m.Description.Network.CTCWeight)
	if loss := weight*e.CTC + (1-weight)*e.CE; !(math.Abs(float64(e.CTC/want.CTC-1)) <= 1e-12+testkit.Products(productTolerance)) || !(math.Abs(float64(e.Loss/loss-1)) <= 1e-12) { // float64 sums
		t.Errorf("CTC %v, want %v; loss %v, want %v", e.CTC, want.CTC, e.Loss, loss)
	}
}

// Greedy decoding: of equal labels the first, repeats merged, blanks dropped, the text written by the policy.
func TestGreedy(t *testing.T) {
	v, err := text.NewVocabulary([]rune("ab e\u0301"))
	if err != nil {
		t.Fatal(err)
	}
	s := &script{tokenizer: v, size: v.Size()}
	r, err := newReader(s)
	if err != nil {
		t.Fatal(err)
	}
	best := func(ids ...int) (logits []float32) {
		for _, id := range ids {
			row := make([]float32, v.Size())
			row[id] = 1
			logits = append(logits, row...)
		}
		return logits
	}
	a, b, space, e, acute := 3, 4, 5, 6, 7
	type decoded struct {
		text           string
		blanks, frames int
	}
	for want, logits := range map[decoded][]float32{
		{"aab", 1, 5}:     best(a, a, 0, a, b),
		{"", 3, 3}:        make([]float32, 3*v.Size()), // all labels alike: blank is the first
		{"a b", 0, 5}:     best(space, a, space, b, space),
		{"\u00e9", 0, 2}:  best(e, acute), // one character after normalization
		{"a\ufffd", 0, 2}: best(a, 2),
		{"", 0, 0}:        nil,
	} {
		h := r.read(logits)
		if got := (decoded{h.Text, h.blanks, h.frames}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
