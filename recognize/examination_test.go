package recognize

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// hum is a tone of this amplitude.
func hum(samples int, amplitude float64) []int {
	tone := make([]int, samples)
	for i := range tone {
		tone[i] = int(amplitude * float64(i%9-4) / 4)
	}
	return tone
}

// What is odd about sound is said of short sound as well: all but what a short one can't show. Of many recordings the
// first are named.
func TestShortSoundIsExamined(t *testing.T) {
	m := random(t, described(t), 1)
	dir := t.TempDir()
	file := func(name string, rate int, samples []int) string {
		path := filepath.Join(dir, name+".wav")
		testkit.WriteWAV(t, path, rate, samples)
		return path
	}
	var low []string
	for i := range oddNamed + 2 {
		low = append(low, file(fmt.Sprintf("low%d", i), 8000, hum(3200, 8000)))
	}
	for _, c := range []struct {
		name  string
		paths []string
		want  []string // warnings, in order
	}{
		{"0.4 s of a lower rate", low[:1], []string{low[0] + ": it has 8000 Hz, and the model hears 16000"}},
		{"many", low, []string{"low0", "low1", "low2", "low3", "low4", "2 sounds more: of a lower rate than the model hears"}},
		{"one more", low[:oddNamed+1], []string{"low0", "low1", "low2", "low3", "low4", "1 sound more: of a lower rate"}},
		{"0.4 s of a faint voice", []string{file("faint", 16000, hum(6400, 60))}, []string{"faint.wav: it is very quiet"}},
		{"too short for a level", []string{file("click", 16000, hum(1600, 60))}, nil},
		{"too loud", []string{file("loud", 16000, hum(6400, 32767))}, []string{"loud.wav: it is too loud"}},
		{"nothing", []string{file("fine", 16000, hum(6400, 8000))}, nil},
	} {
		var said bytes.Buffer
		m.log = &said
		transcripts(t, m, c.paths...)
		lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
		if said.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(c.want) {
			t.Errorf("%s: %d warnings, want %d:\n%s", c.name, len(lines), len(c.want), said.String())
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], "WARNING: ") || !strings.Contains(lines[i], want) {
				t.Errorf("%s: warning %d is %q, want %q", c.name, i, lines[i], want)
			}
		}
	}
}
