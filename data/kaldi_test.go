package data

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLoadKaldi(t *testing.T) {
	dir := corpus(t, map[string]string{
		"k/text":         "u1 वाट\nu2\tबीं \nu4 कूय\nu10 म्हजें\nu5\n",
		"k/wav.scp":      "u10 ../audio/c.wav\nu2 ../audio/b.wav\nu1 ../audio/a.wav\nu3 ../audio/a.wav\nu5 ../audio/a.wav\n",
		"k/utt2spk":      "u3 s1\nu1 s1\nu10 s2\n",
		"seg/text":       "r1-2 बीं\nr1-1 वाट\nr1-3 बी\n",
		"seg/segments":   "r1-1 r1 0.0 0.5\nr1-2 r1 0.5 -1\nr1-3 r9 0 1\n",
		"seg/wav.scp":    "r1 ../audio/c.wav\n",
		"twice/text":     "u1 a\nu2 b\nu1 c\n",
		"twice/wav.scp":  "u1 ../audio/a.wav\n",
		"pipe/text":      "u1 a\n",
		"pipe/wav.scp":   "u1 sox x.sph -r 8000 -t wav - |\n",
		"noaudio/text":   "u1 a\n",
		"segbad/text":    "u1 a\n",
		"segbad/wav.scp": "r1 ../audio/c.wav\n", "segbad/segments": "u1 r1 2 1\n",
	})
	s, err := Load(context.Background(), filepath.Join(dir, "k"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(s); !slices.Equal(got, []string{"u1", "u2", "u10"}) {
		t.Errorf("ids %q", got)
	}
	if !slices.Equal(texts(s), []string{"वाट", "बीं", "म्हजें"}) || s.At(2).Speaker != "s2" || s.At(1).Speaker != "" {
		t.Errorf("%q", texts(s))
	}
	summary := s.Report.String()
	for _, part := range []string{"3 of 6", "u3 in wav.scp, line 4: not in text", "u4 in text, line 3: not in wav.scp", "u5 in text, line 5"} {
		if !strings.Contains(summary, part) {
			t.Errorf("%q isn't in: %s", part, summary)
		}
	}
	s, err = Load(context.Background(), filepath.Join(dir, "seg"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids(s), []string{"r1-2", "r1-1"}) || !slices.Equal(durations(s), []float64{1, 0.5}) || s.At(0).Offset != 0.5 {
		t.Errorf("segments: %v, %v", ids(s), s.Report)
	}
	for folder, part := range map[string]string{"twice": "u1 stands on line 1 and on line 3", "pipe": "command", "noaudio": "wav.scp", "audio": "text and wav.scp (Kaldi)", "segbad": "start 2 and end 1"} {
		if _, err := Load(context.Background(), filepath.Join(dir, folder), Options{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A file of the folder may be in UTF-16, and a note says so.
func TestKaldiUTF16(t *testing.T) {
	dir := corpus(t, map[string]string{"k/text": utf16le("u1 वाट\n"), "k/wav.scp": "u1 ../audio/a.wav\n"})
	s := mustLoad(t, filepath.Join(dir, "k"), Options{})
	if !slices.Equal(texts(s), threeTexts[:1]) || !strings.Contains(s.Report.String(), "warning: text is UTF-16") {
		t.Errorf("%v", s.Report)
	}
	dir = corpus(t, map[string]string{"k/text": utf16le("u1 वाट\n")[:11], "k/wav.scp": "u1 ../audio/a.wav\n"})
	if _, err := Load(context.Background(), filepath.Join(dir, "k"), Options{}); err == nil || !strings.Contains(err.Error(), "odd number of bytes") {
		t.Errorf("%v", err)
	}
}

// Lines of a Kaldi folder that can't be used, in its text, wav.scp and segments.
func TestKaldiLines(t *testing.T) {
	for _, c := range []struct{ name, text, scp, segments, want string }{
		{"no file", "u1 a\n", "u1\n", "", "no file in wav.scp"},
		{"two fields", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r1 1\n", "segments: 2 fields after the id"},
		{"a word as start", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r1 x 1\n", "start x and end 1"},
		{"a word as end", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r1 0 x\n", "start 0 and end x"},
		{"a start before 0", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r1 -0.1 1\n", "start -0.1 and end 1"},
		{"an end at the start", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r1 1 1\n", "start 1 and end 1"},
		{"no recording", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r2 0 1\n", "its recording r2 is not in wav.scp"},
		{"a command behind a segment", "u1 a\n", "r1 gunzip -c x.wav |\n", "u1 r1 0 1\n", "commands are not run"},
		{"an end behind the recording", "u1 a\n", "r1 ../audio/c.wav\n", "u1 r1 1 1.7\n", "ends at 1.700 s"},
		{"nothing", "\n", "\n", "", "text and wav.scp are empty"},
		{"Latin-1", "u1 caf\xe9\n", "u1 ../audio/c.wav\n", "", "line 1: byte 7 (0xE9)"},
		{"NUL bytes", "u1 a\n\x00\x00\n", "u1 ../audio/c.wav\n", "", "line 2: byte 1 is NUL"},
	} {
		files := map[string]string{"k/text": c.text, "k/wav.scp": c.scp}
		if c.segments != "" {
			files["k/segments"] = c.segments
		}
		_, err := Load(context.Background(), filepath.Join(corpus(t, files), "k"), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
