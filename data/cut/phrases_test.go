package cut

import (
	"math"
	"slices"
	"testing"
)

// Pieces are like the phrases that a network has learned from: words are cut from each other, and have as much silence
// around them, however long a piece may be.
func TestPiecesAreLikePhrases(t *testing.T) {
	for _, c := range []struct {
		phrases        Phrases
		say, pause     float64 // seconds
		longest        float64
		before, behind float64 // seconds of the pause that pieces have
		fewest, noMore int     // pieces of 30 that were said
		whatItIs       string
	}{
		{Phrases{Typical: 0.35}, 0.35, 0.8, 20, 0, 0, 30, 30, "words without silence"},
		{Phrases{Typical: 0.35}, 0.35, 0.8, 2, 0, 0, 30, 30, "the same in short pieces"},
		{Phrases{Typical: 0.35}, 0.35, 0.8, 1, 0, 0, 30, 30, "the same in pieces that end in pauses"},
		{Phrases{Typical: 0.9, Before: 0.2, Behind: 0.3}, 0.4, 1.2, 20, 0.2, 0.3, 30, 30, "words with silence"},
		{Phrases{Typical: 0.9, Before: 0.2, Behind: 0.3}, 0.4, 1.2, 2, 0.2, 0.3, 30, 30, "the same in short pieces"},
		{Phrases{Typical: 1.2, Before: 0.6, Behind: 0.3}, 0.5, 0.6, 2, 0.4, 0.2, 30, 30, "pauses shorter than the silence"},
		{Phrases{Typical: 3, Before: 5, Behind: 7}, 1, 3, 20, MostQuiet, MostQuiet, 30, 30, "more silence than stays"},
		{Sentences(), 2, 1, 20, 0, 0.4, 30, 30, "sentences"},
		{Sentences(), 0.35, 0.4, 20, 0, 0.4, 8, 20, "words of sentences"},
	} {
		var parts []float64
		for range 30 {
			parts = append(parts, c.say, -c.pause)
		}
		x := sound(1e-4, parts...)
		o := Options{Rate: rate, Longest: c.longest, Overlap: c.longest / 5, Phrases: c.phrases}
		list := pieces(t, o, x, 0, 0, rate/7)
		if n := len(list); n < c.fewest || n > c.noMore {
			t.Errorf("%s: %d pieces, want %d to %d", c.whatItIs, n, c.fewest, c.noMore)
			continue
		}
		if c.fewest < 30 {
			continue
		}
		for i, p := range list {
			said := float64(i) * (c.say + c.pause)
			before, behind := said-float64(p.start)/rate, float64(p.end)/rate-said-c.say
			want, wantBehind := c.before, c.behind
			if i == 0 {
				want = 0 // the sound begins with it
			}
			if i == len(list)-1 {
				wantBehind = min(c.phrases.Behind, MostQuiet) // nobody else wants a part of it
			}
			// Frames are of 10 ms, and the last one of a word is hardly in it.
			if math.Abs(before-want) > 0.021 || math.Abs(behind-wantBehind) > 0.021 || p.joined > 0 {
				t.Errorf("%s: piece %d has %.3f s of silence before and %.3f s behind, %d samples shared; want %.2f and %.2f", c.whatItIs, i, before, behind, p.joined, want, wantBehind)
			}
		}
	}
}

// Pauses that are hardly clear are cut in where a piece would be longer than phrases were, though a long pause follows.
func TestPiecesAreNoLongerThanPhrases(t *testing.T) {
	x := sound(1e-4, 0.4, -0.22, 0.35, -0.22, 0.4, -2, 0.4, -0.22, 0.4)
	want := []float64{0, 0.4, 0.62, 0.97, 1.19, 1.59, 3.59, 3.99, 4.21, 4.61}
	for _, longest := range []float64{0.45, 0.65} {
		var got []float64
		for _, p := range pieces(t, Options{Rate: rate, Longest: 4, Overlap: 1, Phrases: Phrases{Typical: 0.4, Longest: longest}}, x, 0, 0, 1000) {
			got = append(got, float64(p.start)/rate, float64(p.end)/rate)
			if seconds := float64(len(p.wave)) / rate; seconds > longest {
				t.Errorf("a piece of %.2f s, where phrases have %g s at most", seconds, longest)
			}
		}
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 0.021 }) {
			t.Errorf("phrases of up to %g s: pieces %.2f, want %.2f", longest, got, want)
		}
	}
}

// A word may fade for long and softly, and stays whole; what is behind it is left out all the same.
func TestSlowFades(t *testing.T) {
	x := sound(1e-4, 3, -1.5, 3, -1.5, 3, -1)
	for i := range rate * 3 / 10 {
		x[3*rate+i] += float32(0.02 * math.Sin(float64(i)*0.5) * (1 - float64(i)/(rate*3/10)))
	}
	list := pieces(t, Options{Rate: rate, Longest: 5, Overlap: 1, Phrases: Phrases{Typical: 3}}, x, 0, 0, 1000)
	if len(list) != 3 {
		t.Fatalf("%d pieces", len(list))
	}
	if end := float64(list[0].end) / rate; end < 3.2 || end > 3.4 {
		t.Errorf("the first piece ends at %.2f s; it fades up to 3.3 s", end)
	}
}

// Quiet is measured as pieces are cut: with it as phrases have it, a piece is as the phrase was.
func TestQuiet(t *testing.T) {
	for _, noise := range []float64{0, 1e-4, 3e-3} {
		for _, c := range [][2]float64{{0, 0}, {0.05, 0}, {0.3, 0.1}, {0.02, 0.7}, {1.5, 1}} {
			before, within, behind, ok := Quiet(sound(noise, -c[0], 0.7, -0.32, 0.5, -c[1]), rate)
			if !ok || math.Abs(before-c[0]) > 0.021 || math.Abs(behind-c[1]) > 0.021 || math.Abs(within-0.32) > 0.021 {
				t.Errorf("noise %g: %.2f s before, 0.32 s within and %.2f s behind are measured as %.2f, %.2f and %.2f, %v", noise, c[0], c[1], before, within, behind, ok)
			}
		}
	}
	for _, x := range [][]float32{nil, make([]float32, 50), make([]float32, rate), sound(1e-4, -1)} {
		if before, _, behind, ok := Quiet(x, rate); ok {
			t.Errorf("%d samples of nothing have %g and %g s of it", len(x), before, behind)
		}
	}
	if _, _, _, ok := Quiet(sound(0, 1), 99); ok {
		t.Error("99 Hz")
	}
}

// Sound that is no longer than a piece stays as it is; but quiet that is much longer than that of phrases is taken off,
// and what is much longer than phrases were is cut in its pauses.
func TestShortSound(t *testing.T) {
	for name, c := range map[string]struct {
		phrases Phrases
		parts   []float64 // seconds of sound, and of quiet below 0
		want    []float64 // starts and ends in seconds
	}{
		"as phrases":                {Phrases{Typical: 3, Longest: 5, Behind: 0.3}, []float64{-0.1, 2, -0.4}, []float64{0, 2.5}},
		"with a pause":              {Phrases{Typical: 3, Longest: 5, Within: 0.9}, []float64{2, -1, 2}, []float64{0, 5}},
		"with a longer pause":       {Phrases{Typical: 3, Longest: 5, Within: 0.7, Behind: 0.3}, []float64{2, -1, 2}, []float64{0, 2.3, 3, 5}},
		"a little late":             {Phrases{Typical: 3, Longest: 5, Behind: 0.3}, []float64{-0.15, 2, -0.45}, []float64{0.15, 2.45}},
		"as late as others":         {Phrases{Typical: 3, Longest: 5, Behind: 0.3, MostBefore: 0.95, MostBehind: 0.75}, []float64{-1, 2, -0.8}, []float64{0, 3.8}},
		"late":                      {Phrases{Typical: 3, Longest: 5, Behind: 0.3}, []float64{-1, 2, -0.4}, []float64{1, 3.4}},
		"late, and phrases were":    {Phrases{Typical: 3, Longest: 5, Before: 0.9, Behind: 0.3}, []float64{-1, 2, -0.4}, []float64{0, 3.4}},
		"much later":                {Phrases{Typical: 3, Longest: 5, Before: 0.5, Behind: 0.3}, []float64{-2, 2, -0.4}, []float64{1.5, 4.4}},
		"ending in quiet":           {Phrases{Typical: 3, Longest: 5, Behind: 0.3}, []float64{2, -2}, []float64{0, 2.3}},
		"two words":                 {Phrases{Typical: 0.4, Longest: 0.5}, []float64{0.4, -0.5, 0.4}, []float64{0, 0.4, 0.9, 1.3}},
		"a word in quiet":           {Phrases{Typical: 0.4, Longest: 0.5}, []float64{-1, 0.4, -1.5}, []float64{1, 1.4}},
		"two words, of nobody":      {Sentences(), []float64{0.4, -0.35, 0.4}, []float64{0, 1.15}},
		"as long as phrases may be": {Phrases{Typical: 0.4, Longest: 1}, []float64{0.5, -0.2, 0.5}, []float64{0, 1.2}},
	} {
		var got []float64
		for _, p := range pieces(t, Options{Rate: rate, Longest: 10, Overlap: 2, Phrases: c.phrases}, sound(1e-4, c.parts...), 0, 0, 1000) {
			got = append(got, float64(p.start)/rate, float64(p.end)/rate)
		}
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 0.021 }) {
			t.Errorf("%s: pieces %.2f, want %.2f", name, got, c.want)
		}
	}
}
