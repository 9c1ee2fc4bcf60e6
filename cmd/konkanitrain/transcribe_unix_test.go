//go:build unix

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"konkanitrain/internal/testkit"
)

// listener is a folder with a model and a long recording.
func listener(t *testing.T) (dir string, samples []int) {
	t.Helper()
	flags, dir := endless(t)
	if out, err := konkanitrain(dir, append(oneEpoch(flags), "--max_updates", "2")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	samples, err := joinedSamples(8000, filepath.Join(dir, "train"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, samples
}

func konkanitrain(dir string, args ...string) *exec.Cmd {
	c := exec.Command("konkanitrain", args...)
	c.Dir = dir
	return c
}

// The first Ctrl-C stops a transcription within a second, also while it waits for what doesn't come; what was written
// stays.
func TestInterruptStopsTranscribing(t *testing.T) {
	dir, samples := listener(t)
	path := filepath.Join(dir, "start.wav")
	testkit.WriteWAV(t, path, 8000, samples)
	wav, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(wav[40:], "\xff\xff\xff\xff") // as a recorder's pipe has it
	c := &started{Cmd: konkanitrain(dir, "transcribe", "--checkpoint", "run", "--piece_seconds", "1", "--format", "jsonl", "-")}
	in, out := io.Pipe()
	c.Stdin, c.Stderr = in, &c.stderr
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); out.Close() })
	if _, err := out.Write(wav); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 1)
	if _, err := io.ReadFull(pipe, line); err != nil || line[0] != '{' { // it is heard as it comes
		t.Fatalf("%q, %v; standard error:\n%s", line, err, c.stderr.String())
	}
	at := time.Now()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(pipe) // until the process is gone
	if took := time.Since(at); err != nil || took > time.Second {
		t.Errorf("it stopped after %v, %v", took, err)
	}
	in.Close()
	if err := c.Wait(); c.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("exit code %d, %v, want %d", c.ProcessState.ExitCode(), err, exitInterrupted)
	}
	for _, s := range strings.Split(strings.TrimSpace("{"+string(rest)), "\n") {
		if !json.Valid([]byte(s)) {
			t.Errorf("a line that is not whole: %s", s)
		}
	}
	testkit.MustContain(t, c.stderr.String(), "Interrupted: stopping; what is written stays")
}

// A file that another process is writing is not gone on with.
func TestTwoDontWriteOneFile(t *testing.T) {
	dir, _ := listener(t)
	c := &started{Cmd: konkanitrain(dir, "transcribe", "--checkpoint", "run", "--output", "texts.out", "-")}
	in, out := io.Pipe() // it waits for sound
	c.Stdin, c.Stderr = in, &c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); out.Close() })
	deadline := time.Now().Add(time.Minute)
	for {
		if _, err := os.Stat(filepath.Join(dir, "texts.out.progress")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it doesn't begin; standard error:\n%s", c.stderr.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
	said, err := konkanitrain(dir, "transcribe", "--checkpoint", "run", "--output", "texts.out", "-").CombinedOutput()
	if err == nil || !strings.Contains(string(said), "texts.out: another process is writing it: wait for its end or stop it") {
		t.Errorf("%v\n%s", err, said)
	}
}

// A transcription that is killed again and again, and gone on with, writes what one writes that is left alone.
func TestKilledTranscriptionGoesOn(t *testing.T) {
	dir, samples := listener(t)
	var long []int
	for len(long) < 8000*900 {
		long = append(long, samples...)
	}
	testkit.WriteWAV(t, filepath.Join(dir, "long.wav"), 8000, long)
	args := func(format, out string) []string {
		return []string{"transcribe", "--checkpoint", "run", "--piece_seconds", "1", "--cpu_workers", "1", "--format", format, "--output", out, "long.wav", "train"}
	}
	for _, format := range []string{"text", "json", "ctm"} {
		if out, err := konkanitrain(dir, args(format, "whole.out")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		from := 0 // where the sessions until now have come to in the long recording
		for kills := 0; kills < 8; {
			c := konkanitrain(dir, args(format, "half.out")...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			state := waitForProgress(t, ended, filepath.Join(dir, "half.out.progress"), from)
			time.Sleep(time.Duration(kills) * time.Millisecond) // somewhere before or behind the next piece
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
			from = state.From.Sample
			if kills++; kills%3 == 0 { // and damage at the end
				f, err := os.OpenFile(filepath.Join(dir, "half.out"), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				f.WriteString("\x00\x00 half a li")
				f.Close()
			}
		}
		if out, err := konkanitrain(dir, args(format, "half.out")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want, err := os.ReadFile(filepath.Join(dir, "whole.out"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "half.out"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s: after kills %d bytes that differ from the %d of one that was left alone", format, len(got), len(want))
		}
		os.Remove(filepath.Join(dir, "whole.out"))
		os.Remove(filepath.Join(dir, "half.out"))
	}
}

// waitForProgress waits until a transcription in progress has come further in its first recording than to a sample.
func waitForProgress(t *testing.T, ended <-chan error, path string, from int) (state sheetState) {
	t.Helper()
	for {
		if b, err := os.ReadFile(path); err == nil && json.Unmarshal(b, &state) == nil && state.From.Sample > from {
			return state
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended, and was not seen to come further than sample %d: %v", from, err)
		case <-time.After(time.Millisecond):
		}
	}
}
