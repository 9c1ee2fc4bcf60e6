package data

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text"
)

func TestTokenize(t *testing.T) {
	// 2000 samples at 16 kHz are the 13 frames that aab needs at factor 4; 1999 are one sample too few.
	dir := corpus(t, map[string]string{"enough.wav": string(wav(2000, 16000)), "short.wav": string(wav(1999, 16000)), "none.wav": string(wav(79, 16000)),
		"x.jsonl": `{"audio_filepath": "enough.wav", "text": "aab"}` + "\n" + `{"audio_filepath": "short.wav", "text": "aab"}` + "\n" + `{"audio_filepath": "none.wav", "text": "a"}`})
	load := func() *Set { return mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{}) }
	s := load()
	if got := s.Report.reported(TooShort); !slices.Equal(got, []int{3}) || s.At(0).Frames != 13 || s.At(1).Frames != 12 {
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
			if s.Len() != c.kept || s.Report.Kept != c.kept || !slices.Equal(s.Report.reported(CTCTooShort), c.reported) || s.Report.Count(CTCTooShort) != len(c.reported) {
				t.Errorf("%+v: %d kept, %v", c.o, s.Len(), s.Report)
			}
		}
		// Targets hold the letters and nothing else.
		if got := s.At(0).Tokens; !slices.Equal(got, []int32{3, 3, 4}) {
			t.Errorf("tokens %v", got)
		}
	}
	// The advice to subsample less is given where that is possible.
	for factor, advice := range map[int]string{8: "a lower subsampling factor than 8", 2: "whether texts and sound belong together"} {
		long := unpacked(load())
		for _, u := range long.All() {
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
	for limit, over := range map[float64]bool{2. / 6: false, math.Nextafter(2./6, 0): true} {
		if err := s.Tokenize(other, TokenOptions{UnknownLimit: limit}); (err != nil) != over {
			t.Errorf("limit %v: %v", limit, err)
		}
	}
	if !strings.Contains(s.Report.String(), `"b" x 2`) {
		t.Errorf("%v", s.Report)
	}
}

// A text that fits its sound at speed 1 and not at every speed is named and stays.
func TestTextsTooLongAtSomeSpeeds(t *testing.T) {
	// 16000 samples are 100 frames, 25 after subsampling by 4; at speed 1.1 there are 91 and 23.
	letters := "abcdefghijklmnopqrstuvwxy"
	line := func(id, text string) string {
		return with(edit(lineB, "बीं", text), `"id": "`+id+`"`)
	}
	dir := corpus(t, map[string]string{"x.jsonl": line("tight", letters) + line("fits", letters[:23]) + line("one more", letters[:24]) + line("never", letters+"z")})
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	v, err := text.Build(s.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	o := TokenOptions{Factor: 4, Speeds: []float64{0.9, 1, 1.05, 1.1}}
	for range 2 { // a second time changes nothing
		if err := s.Tokenize(v, o); err != nil {
			t.Fatal(err)
		}
		if s.Len() != 4 || !slices.Equal(s.Report.reported(CTCTooFast), []int{1, 3}) || s.Report.Count(CTCTooFast) != 2 ||
			!slices.Equal(s.Report.reported(CTCTooShort), []int{4}) {
			t.Errorf("%v", s.Report)
		}
	}
	for _, part := range []string{
		"tight: needs 25 after subsampling by 4, has 25 at speed 1, too few at 1.05, 1.1 (as few as 23)",
		"one more: needs 24 after subsampling by 4, has 25 at speed 1, too few at 1.1 (as few as 23)",
	} {
		if !strings.Contains(s.Report.String(), part) {
			t.Errorf("%q isn't in: %v", part, s.Report)
		}
	}
	s = unpacked(s)
	s.At(0).Text = strings.Repeat("ab", 47) + "a" // more than the 91 frames at speed 1.1
	o.Factor = 0
	if err := s.Tokenize(v, o); err != nil || s.Report.Count(CTCTooFast) != 0 {
		t.Errorf("without a factor nothing is checked: %v, %v", err, s.Report)
	}
	o.Factor, o.Speeds = 4, []float64{3}
	if err := s.Tokenize(v, o); err == nil || !strings.Contains(err.Error(), "speed 3") {
		t.Errorf("%v", err)
	}
}
