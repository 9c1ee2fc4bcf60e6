package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The total is the first figure of the memory line; what a validation takes is another line.
func TestMemoryLine(t *testing.T) {
	for output, want := range map[string]float64{
		"device: cpu\nmemory: 409.2 MB of buffers: weights 1.0 MB\n":              409.2,
		"memory: 12 MB in all\nupdate 1\n":                                        12,
		"memory: scoring u1 (3.0 s) takes more than any\nmemory: 7.5 MB in all\n": 7.5,
	} {
		line, said, err := memoryLine(output)
		if err != nil || said != want || !strings.HasPrefix(line, "memory: ") || strings.Contains(line, "\n") {
			t.Errorf("%q: %q, %v, %v; want %v", output, line, said, err, want)
		}
	}
	if _, _, err := memoryLine("update 1\n"); err == nil {
		t.Error("a run without a memory line is no error")
	}
}

// The same settings write the same files, of the lengths that were asked for.
func TestSound(t *testing.T) {
	s := sound{utterances: 3, validated: 2, seconds: 0.4, rate: 8000}
	var first string
	for range 2 {
		dir := t.TempDir()
		train, val, err := s.write(dir)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for manifest, n := range map[string]int{train: 3, val: 2} {
			if b, err := os.ReadFile(manifest); err != nil || strings.Count(string(b), "\n") != n {
				t.Errorf("%s, %v", b, err)
			}
		}
		var bytes int64
		for _, name := range []string{"train-000.wav", "train-001.wav", "train-002.wav"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			bytes += int64(len(b))
			all += string(b)
		}
		if want := int64(3*44 + 2*8000*(0.2+0.4+0.6)); bytes != want {
			t.Errorf("%d bytes of sound, want %d", bytes, want)
		}
		if first == "" {
			first = all
		} else if all != first {
			t.Error("the second files are others")
		}
	}
	if (sound{utterances: 1, validated: 1, seconds: 0.1, rate: 8000}).check() == nil {
		t.Error("too short, and no error")
	}
}

// What is said is held to what was taken, above an idle process.
func TestReport(t *testing.T) {
	idle, ran := process{peak: 10e6}, process{peak: 110e6, output: "memory: 95.0 MB in all\n"}
	for within, ok := range map[float64]bool{0: true, 6: true, 4: false} {
		var out strings.Builder
		err := settings{within: within}.report(&out, idle, ran)
		if (err == nil) != ok || !strings.Contains(out.String(), "said / taken: 0.950 (-5.0 %)") {
			t.Errorf("within %v %%: %v\n%s", within, err, out.String())
		}
	}
}
