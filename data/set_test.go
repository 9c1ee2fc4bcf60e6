package data

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text"
)

func mustLoad(t testing.TB, path string, o Options) *Set {
	t.Helper()
	s, err := Load(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOverlap(t *testing.T) {
	dir := corpus(t, map[string]string{"train.jsonl": lineA + lineB + lineC, "val.jsonl": lineB,
		"parts.jsonl":     with(edit(lineB, "1.0", "0.5"), `"offset": 0.5`),
		"other/val.jsonl": lineA, "other/audio/a.wav": string(wav(8000, 16000))})
	train := mustLoad(t, filepath.Join(dir, "train.jsonl"), Options{})
	got := Overlap(train, mustLoad(t, filepath.Join(dir, "val.jsonl"), Options{}))
	if !strings.HasPrefix(got, "1 of 1 utterances of ") || !strings.Contains(got, "audio/b.wav, line 2 there and line 1 here") {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"parts.jsonl", "other/val.jsonl"} {
		if got := Overlap(train, mustLoad(t, filepath.Join(dir, name), Options{})); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTokenize(t *testing.T) {
	// 2000 samples at 16 kHz are the 13 frames that aab needs at factor 4; 1999 are one sample too few.
	dir := corpus(t, map[string]string{"enough.wav": string(wav(2000, 16000)), "short.wav": string(wav(1999, 16000)), "none.wav": string(wav(79, 16000)),
		"x.jsonl": `{"audio_filepath": "enough.wav", "text": "aab"}` + "\n" + `{"audio_filepath": "short.wav", "text": "aab"}` + "\n" + `{"audio_filepath": "none.wav", "text": "a"}`})
	load := func() *Set { return mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{}) }
	s := load()
	if got := s.Report.reported(TooShort); !slices.Equal(got, []int{3}) || s.Utterances[0].Frames != 13 || s.Utterances[1].Frames != 12 {
		t.Errorf("%v", s.Report)
	}
	v, err := text.Build(s.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o        TokenOptions
		kept     int
		reported []int
	}{{TokenOptions{}, 2, nil}, {TokenOptions{Factor: 2}, 2, nil}, {TokenOptions{Factor: 4}, 2, []int{2}}, {TokenOptions{Factor: 4, DropInfeasible: true}, 1, []int{2}}} {
		s := load()
		for range 2 { // a second time changes nothing
			if err := s.Tokenize(v, c.o); err != nil {
				t.Fatal(err)
			}
			if len(s.Utterances) != c.kept || s.Report.Kept != c.kept || !slices.Equal(s.Report.reported(CTCTooShort), c.reported) || s.Report.Count(CTCTooShort) != len(c.reported) {
				t.Errorf("%+v: %d kept, %v", c.o, len(s.Utterances), s.Report)
			}
		}
		// Targets hold the letters and nothing else.
		if got := s.Utterances[0].Tokens; !slices.Equal(got, []int32{3, 3, 4}) {
			t.Errorf("tokens %v", got)
		}
	}
	// The advice to subsample less is given where that is possible.
	for factor, advice := range map[int]string{8: "a lower subsampling factor than 8", 2: "whether texts and sound belong together"} {
		long := load()
		for _, u := range long.Utterances {
			u.Text = strings.Repeat("ab", 20)
		}
		err := long.Tokenize(v, TokenOptions{Factor: factor, DropInfeasible: true})
		if err == nil || !strings.Contains(err.Error(), "no utterance is left") || !strings.Contains(err.Error(), advice) {
			t.Errorf("factor %d: %v", factor, err)
		}
	}
	if err := load().Tokenize(v, TokenOptions{Factor: 3}); err == nil {
		t.Error("factor 3 was taken")
	}
	other, _ := text.NewVocabulary([]rune("a"))
	s = load()
	if err := s.Tokenize(other, TokenOptions{}); err == nil || !strings.Contains(err.Error(), `2 of 6 letters (33.33 %)`) {
		t.Errorf("a third of the letters is unknown: %v", err)
	}
	if err := s.Tokenize(other, TokenOptions{UnknownLimit: 0.5}); err != nil || s.Report.Unknown.Outside != 2 {
		t.Errorf("%v, %v", err, s.Report)
	}
	if !strings.Contains(s.Report.String(), `"b" x 2`) {
		t.Errorf("%v", s.Report)
	}
}

func TestSet(t *testing.T) {
	dir := corpus(t, map[string]string{"x.jsonl": lineA + lineC + lineB + strings.Replace(lineB, "बीं", "ींब", 1)})
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	if s.Seconds() != 4 || !slices.Equal(s.frames(), []int{50, 150, 100, 100}) {
		t.Errorf("%v, %v", s.Seconds(), s.frames())
	}
	want := "4 of 4 utterances used, 4.0 s (0.50 to 1.50 s each)\n" +
		"  1 used, path listed again without an id: line 4: audio/b.wav, as on line 3; called audio/b.wav#2\n" +
		"  1 text starts with a combining mark; it is used as it is"
	if got := s.Report.String(); !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	if duration(60) != "60.0 s" || duration(600) != "10.0 min" || duration(74577.6) != "20.72 h" {
		t.Error("durations are written wrongly")
	}
}
