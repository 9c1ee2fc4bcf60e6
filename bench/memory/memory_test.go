package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The total, the limit and the workers' part are read from the memory line, whatever else is said of memory before.
func TestMemoryLine(t *testing.T) {
	const why = "control group /a (memory.max) allows 4.3 GB, of which 0 bytes are taken"
	for output, want := range map[string]int64{
		"memory: fitted to 99.0 MB; 24 utterances\nmemory: 409.2 MB in all, under a limit of 3.9 GB (" + why + "): 2 workers with 12.5 MB each": 409_200_000,
		"memory: 12 kB in all, under a limit of 3.9 GB (" + why + "): 1 worker with 25.0 MB each\nupdate 1\n":                                   12_000,
		"memory: scoring u1 (3.0 s)\nmemory: 1.5 GB in all, under a limit of 3.9 GB (" + why + "): 5 workers with 5 MB each":                    1_500_000_000,
	} {
		line, said, err := memoryLine(output)
		if err != nil || said != want || strings.Contains(line, "\n") {
			t.Errorf("%q: %q, %v, %v; want %v", output, line, said, err, want)
		}
		if limit, from, err := memoryLimit(line); err != nil || limit != 3_900_000_000 || from != why {
			t.Errorf("%q: %v, %q, %v", line, limit, from, err)
		}
		if bytes, err := arenasIn(line); err != nil || bytes != 25_000_000 {
			t.Errorf("%q: %v, %v", line, bytes, err)
		}
	}
	if _, _, err := memoryLine("update 1\nmemory: fitted to 3 MB\n"); err == nil {
		t.Error("a run without a memory line is no error")
	}
	if _, _, err := memoryLimit("memory: 3 MB in all, under no limit"); err == nil {
		t.Error("a line without a limit is no error")
	}
	for _, text := range []string{"", "3", "MB", "3 PB", "x MB", "3,5 MB"} {
		if _, err := parseBytes(text); err == nil {
			t.Errorf("%q is read as an amount", text)
		}
	}
}

// Losses, and the number of updates, are those of the lines about updates and validations.
func TestLosses(t *testing.T) {
	const output = "model: 5 parameters\nupdate 1  epoch 1  loss 2.5000 (ctc 9.0 ce 1.0)  lr 1e-4\nupdate 12  epoch 1  loss -3e-2  lr 1\n" +
		"validation after update 2: WER 1 %  loss 7.0  blanks 3 %\nvalidation after update 4: WER 1 %  loss 8.0  blanks 3 %\nupdates\n"
	if got := lossesIn(output); !slices.Equal(got, []float64{2.5, -0.03}) || updatesIn(output) != 2 || validatedIn(output) != 8 {
		t.Errorf("%v, %d updates, validation %v", got, updatesIn(output), validatedIn(output))
	}
	if !math.IsNaN(validatedIn("update 1\n")) || !math.IsNaN(numberAfter("loss x", "loss ")) {
		t.Error("a loss that isn't there is a number")
	}
}

// A straight line is found, one that rises is refused, and too few looks say nothing.
func TestLevel(t *testing.T) {
	looks := func(n int, rise float64) (all []look) {
		for i := range n {
			all = append(all, look{count: float64(100 * i), resident: 50e6 + 100*float64(i)*rise + float64(1000*(i%2)), seconds: float64(i), wall: float64(2 * i)})
		}
		return append(all, look{count: 1e6}) // a process that has ended
	}
	for _, c := range []struct {
		n    int
		rise float64
		ok   bool
	}{{200, 0, true}, {200, -500, true}, {200, 70, true}, {200, 100, false}, {25, 0, false}} {
		var out strings.Builder
		if err := level(&out, "update", looks(c.n, c.rise), 1000); (err == nil) != c.ok {
			t.Errorf("%+v: %v\n%s", c, err, out.String())
		}
	}
	slope, _, _ := fit(looks(200, 70)[:200])
	if math.Abs(slope-70) > 1 { // what alternates adds 0.1
		t.Errorf("a rise of %v, want 70", slope)
	}
	if p := pace(looks(200, 0), 1000, 2000); p.seconds != 0.01 || p.wall != 0.02 {
		t.Errorf("%+v", p)
	}
}

// The same settings write the same files, of the lengths that were asked for.
func TestSound(t *testing.T) {
	s := sound{utterances: 3, validated: 2, seconds: 0.4, spread: 0.5, rate: 8000, long: 1}
	var first string
	for range 2 {
		dir := t.TempDir()
		n, err := s.write(dir)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for manifest, n := range map[string]int{n.train: 4, n.val: 3} {
			if b, err := os.ReadFile(manifest); err != nil || strings.Count(string(b), "\n") != n {
				t.Errorf("%s, %v", b, err)
			}
		}
		var bytes int64
		for _, name := range []string{"train-000.wav", "train-001.wav", "train-002.wav", "train-003.wav"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			bytes += int64(len(b))
			all += string(b)
		}
		if want := int64(4*44 + 2*8000*(0.2+0.4+0.6+1)); bytes != want {
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

// What is said is held to what was taken.
func TestReportLine(t *testing.T) {
	ran := process{peak: 100e6, output: "memory: 95.0 MB in all, under a limit of 1.0 GB (auto): weights 50.0 MB, 2 workers with 20.0 MB each, tables 4.0 MB, " +
		"Go runtime 1000.0 kB; longest utterance 2.0 MB, 0.5 s\n"}
	for within, ok := range map[float64]bool{0: true, 6: true, 4: false} {
		var out strings.Builder
		err := settings{within: within}.reportLine(&out, ran)
		if (err == nil) != ok || !strings.Contains(out.String(), "said, as the sum of the parts: 95.0 MB; said / taken: 0.950 (-5.0 %)") {
			t.Errorf("within %v %%: %v\n%s", within, err, out.String())
		}
	}
}

// Parts that don't come to the total are an error.
func TestPartsDontAddUp(t *testing.T) {
	ran := process{peak: 100e6, output: "memory: 95.0 MB in all, under a limit of 1.0 GB (auto): weights 50.0 MB, 2 workers with 10.0 MB each; longest utterance a\n"}
	if err := (settings{}).reportLine(io.Discard, ran); err == nil || !strings.Contains(err.Error(), "70000000") {
		t.Errorf("%v", err)
	}
}

// A task ends with a code and has said something, or that is an error; each line is told while it goes on.
func TestTask(t *testing.T) {
	var told []string
	sh := task{program: "sh", args: []string{"-c", "echo one; echo two >&2; printf three; exit 3"}, told: func(line string, pid int) { told = append(told, line) }}
	p, err := sh.must(3, "one\n", "three")
	if err != nil || p.output != "one\ntwo\nthree" || !slices.Equal(told, []string{"one", "two", "three"}) {
		t.Errorf("%+v, %q, %v", p, told, err)
	}
	for code, word := range map[int]string{0: "one", 3: "four"} {
		if _, err := sh.must(code, word); err == nil {
			t.Errorf("code %d and %q are no error", code, word)
		}
	}
	if p, err := (task{program: "sh", args: []string{"-c", "kill -9 $$"}}).run(); err != nil || p.code != -1 {
		t.Errorf("killed: %+v, %v", p, err)
	}
	if _, err := (task{program: filepath.Join(t.TempDir(), "none")}).run(); err == nil {
		t.Error("a program that isn't there is no error")
	}
}

// Mistakes in flags are refused.
func TestParse(t *testing.T) {
	for _, args := range [][]string{{"--check", "nothing"}, {"--updates", "1"}, {"--within", "-1"}, {"--level", "NaN"}, {"--seconds", "0"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
	if s, err := parse([]string{"--check", "group", "--", "--fp16"}); err != nil || s.check.name != "group" || !slices.Equal(s.training, []string{"--fp16"}) {
		t.Errorf("%+v, %v", s, err)
	}
}
