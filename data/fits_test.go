package data

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/data/text"
	"konkanitrain/internal/frames"
)

// A text that does not fit its sound at some of the speeds is played at the others, or at 1 where none is left; what
// fits at all speeds is played as before.
func TestSpeedsThatFit(t *testing.T) {
	// 100 frames are 25 after subsampling by 4; at speed 1.1 they are 23, at 0.9 they are 28.
	letters := map[string]string{"short": "ab", "tight": strings.Repeat("ab", 12) + "a", "over": strings.Repeat("ab", 13)}
	var b strings.Builder
	for id, s := range letters {
		for i := range 12 {
			fmt.Fprintf(&b, `{"id": "%s%d", "audio_filepath": "s.wav", "text": "%s"}`+"\n", id, i, s)
		}
	}
	dir := corpus(t, map[string]string{"s.wav": string(wav(8000, 8000)), "x.jsonl": b.String()})
	v, err := text.NewVocabulary([]rune("ab"))
	if err != nil {
		t.Fatal(err)
	}
	for _, speeds := range [][]float64{{0.9, 1, 1.1}, {1.1}} {
		s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{SampleRate: 8000})
		if err := s.Tokenize(v, TokenOptions{Factor: 4, Speeds: speeds}); err != nil {
			t.Fatal(err)
		}
		if s.Report.Count(CTCTooFast) != 12 || s.Report.Count(CTCTooShort) != 12 {
			t.Errorf("%v", s.Report)
		}
		o := withSpeeds(options8k(5))
		o.Augment.Speeds = speeds
		l := newLoader(t, s, o)
		checkLengths(t, l, 2)
		met := map[string]map[audio.Ratio]bool{"short": {}, "tight": {}, "over": {}}
		for epoch := range 20 {
			for i, u := range s.All() {
				speed := l.speed(epoch, i, u.Key)
				kind := strings.TrimRight(u.ID, "0123456789")
				met[kind][speed] = true
				if kind == "tight" && !frames.Feasible(l.frames(i, speed), 4, u.Tokens) {
					t.Fatalf("%s at %v", u.ID, speed)
				}
				if kind != "tight" && speed != o.Augment.Speed(l.key(epoch, u.Key)) {
					t.Fatalf("%s at %v", u.ID, speed)
				}
			}
		}
		if want := max(1, len(speeds)-1); len(met["tight"]) != want || len(met["short"]) != len(speeds) {
			t.Errorf("%v", met)
		}
		half := s.Select(func(i int) bool { return i%2 == 1 })
		if k := newLoader(t, half, o); k.speed(3, 4, half.key(4)) != l.speed(3, 9, s.key(9)) || half.ID(4) != s.ID(9) {
			t.Error("part of a set plays at other speeds")
		}
	}
}
