//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"konkanitrain/checkpoint"
)

// endless are the flags of a tiny run that doesn't end by itself.
func endless(t *testing.T) (flags []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := corpus(dir, "train", 6); err != nil {
		t.Fatal(err)
	}
	return strings.Fields("--train_manifest train.jsonl --sample_rate 8000 --num_mels 20 --d_model 16 --heads 2 --encoder_layers 1 " +
		"--decoder_layers 0 --subsample_channels 4 --subsampling 2 --conv_kernel 3 --batch_size 3 --num_epochs 1000000 " +
		"--save_every 1000000 --long_warmup --log_every 1 --cpu_workers 1 --checkpoint_dir run"), dir
}

// oneEpoch is flags of a run that ends.
func oneEpoch(flags []string) []string {
	flags = slices.Clone(flags)
	flags[slices.Index(flags, "--num_epochs")+1] = "1"
	return flags
}

// started is the program while it runs.
type started struct {
	*exec.Cmd
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func start(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	s := &started{Cmd: exec.Command("konkanitrain", args...)}
	s.Dir, s.Stderr = dir, &s.stderr
	pipe, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(pipe)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill() })
	return s
}

// await reads until a line holds text.
func (s *started) await(t *testing.T, text string) {
	t.Helper()
	for s.out.Scan() {
		if strings.Contains(s.out.Text(), text) {
			return
		}
	}
	t.Fatalf("the program ended without printing %q; standard error:\n%s", text, s.stderr.String())
}

// end waits for the program and returns its exit code.
func (s *started) end(t *testing.T) int {
	t.Helper()
	for s.out.Scan() {
	}
	var exit *exec.ExitError
	if err := s.Wait(); err != nil && !errors.As(err, &exit) && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return s.ProcessState.ExitCode()
}

// The first signal finishes the update and saves; the run goes on from there.
func TestInterruptSaves(t *testing.T) {
	stops := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the program ignores it, as it should
		stops = append(stops, syscall.SIGHUP)
	}
	for _, stop := range stops {
		t.Run(stop.String(), func(t *testing.T) {
			flags, dir := endless(t)
			s := start(t, dir, flags...)
			s.await(t, "update 3 ")
			if err := s.Process.Signal(stop); err != nil {
				t.Fatal(err)
			}
			if code := s.end(t); code != exitInterrupted {
				t.Errorf("exit code %d, want %d; standard error:\n%s", code, exitInterrupted, s.stderr.String())
			}
			if !strings.Contains(s.stderr.String(), "finishing this update and saving") || !strings.Contains(s.stderr.String(), "go on with: konkanitrain --checkpoint_dir run --resume auto\n") {
				t.Errorf("standard error says neither what happens nor how to go on:\n%s", s.stderr.String())
			}
			entries, err := checkpoint.List(filepath.Join(dir, "run"))
			if err != nil || len(entries) != 1 || entries[0].Step < 3 {
				t.Fatalf("checkpoints %v (%v), want one of update 3 or later", entries, err)
			}
			again := start(t, dir, "--checkpoint_dir", "run", "--resume", "auto", "--num_epochs", "1")
			again.await(t, "resumed from")
			if code := again.end(t); code != exitOK {
				t.Errorf("resumed: exit code %d; standard error:\n%s", code, again.stderr.String())
			}
		})
	}
}

// A run that only measures saves nothing, and says so when it is stopped.
func TestInterruptOfAMeasurement(t *testing.T) {
	for _, flag := range []string{"--find_lr", "--profile_steps=1000000"} {
		flags, dir := endless(t)
		flags[slices.Index(flags, "--encoder_layers")+1] = "16" // for 200 updates to take their time
		s := start(t, dir, append(flags, flag)...)
		s.await(t, "update 3 ")
		if err := s.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code := s.end(t); code != exitInterrupted {
			t.Errorf("%s: exit code %d, want %d; standard error:\n%s", flag, code, exitInterrupted, s.stderr.String())
		}
		if said := s.stderr.String(); !strings.Contains(said, "Interrupted: finishing this update and showing what was measured; nothing is saved. Once more") || strings.Contains(said, "saving") {
			t.Errorf("%s: standard error says\n%s", flag, said)
		}
		if entries, err := checkpoint.List(filepath.Join(dir, "run")); len(entries) > 0 || err != nil {
			t.Errorf("%s: it made %v (%v)", flag, entries, err)
		}
	}
}

// A broken pipe is no Ctrl-C: however often it comes, the run is asked to stop and save, and nothing ends at once.
func TestBrokenPipesAreNoSecondSignal(t *testing.T) {
	var said bytes.Buffer
	ctx, giveBack := interruptible(&said, command{saves: true})
	for i := range 2 {
		if i > 0 {
			time.Sleep(bounce + bounce/5)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGPIPE); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("a broken pipe doesn't stop the run")
		}
	}
	time.Sleep(bounce / 5) // for the second to be looked at
	giveBack()
	if said.Len() > 0 {
		t.Errorf("it counts as a signal of the user's: %q", said.String())
	}
}

// Two signals at once, as to the process and to its group, are one stop: the run is saved. Here they are two kinds,
// as the kernel may merge two of a kind. On a starved machine the program may see them further apart than bounce, and
// rightly end without a save; such a try says nothing.
func TestSignalsAtOnceAreOne(t *testing.T) {
	for range 20 {
		flags, dir := endless(t)
		s := start(t, dir, flags...)
		s.await(t, "update 3 ")
		sent := time.Now()
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			if err := s.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		code := s.end(t)
		took := time.Since(sent)
		entries, err := checkpoint.List(filepath.Join(dir, "run"))
		if err == nil && len(entries) == 1 && entries[0].Step >= 3 && code == exitInterrupted {
			return
		}
		if took < bounce {
			t.Fatalf("exit code %d, checkpoints %v (%v), want one of update 3 or later; standard error:\n%s", code, entries, err, s.stderr.String())
		}
	}
	t.Error("in 20 tries the program always took longer to end than signals may be apart, and never saved")
}

// endlessly starts the program with a file to read, FILE in args, that never ends, and returns when it reads.
func endlessly(t *testing.T, args ...string) (s *started, stderr *bufio.Reader) {
	t.Helper()
	dir := t.TempDir()
	const name = "endless.jsonl"
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
		t.Fatal(err)
	}
	args = slices.Clone(args)
	args[slices.Index(args, "FILE")] = name
	s = &started{Cmd: exec.Command("konkanitrain", args...)}
	said, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = dir
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill() })
	pipe, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0) // returns when the program reads
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return s, bufio.NewReader(said)
}

// While a command prepares, here by reading a file that never ends, the first signal stops it, and what it says is
// true: there is no update to finish, and nothing to save.
func TestInterruptOfPreparation(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--train_manifest FILE", "stopping; training hasn't begun, and nothing is saved"},
		{"--train_manifest FILE --find_lr", "stopping; training hasn't begun, and nothing is saved"},
		{"plan --train_manifest FILE", "stopping"},
		{"data FILE", "stopping"},
		{"lm FILE", "stopping"},
	} {
		t.Run(c.args, func(t *testing.T) {
			s, stderr := endlessly(t, strings.Fields(c.args)...)
			if err := s.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(stderr)
			s.Wait()
			want := "\nInterrupted: " + c.says + ". Once more stops at once.\nkonkanitrain: interrupted\n"
			if code := s.ProcessState.ExitCode(); err != nil || code != exitInterrupted || !strings.HasSuffix(string(text), want) {
				t.Errorf("exit code %d, want %d; standard error (%v) is\n%s\nwant\n%s", code, exitInterrupted, err, text, want)
			}
			if entries, err := checkpoint.List(filepath.Join(s.Dir, "runs/default")); len(entries) > 0 || err != nil {
				t.Errorf("it made %v (%v)", entries, err)
			}
		})
	}
}

// A second signal ends the program at once, without another word, although it is still busy. On a starved machine the
// first one may have ended it before; such a try says nothing.
func TestSecondInterruptStopsAtOnce(t *testing.T) {
	for range 20 {
		s, stderr := endlessly(t, "--train_manifest", "FILE")
		sent := time.Now()
		if err := s.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		for line := ""; !strings.Contains(line, "Once more stops at once"); {
			var err error
			if line, err = stderr.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(bounce + bounce/5) // earlier it counts as the same signal
		if err := s.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(stderr)
		s.Wait()
		took := time.Since(sent)
		code := s.ProcessState.ExitCode()
		if code == exitInterrupted && len(rest) == 0 {
			return
		}
		if took < grace {
			t.Fatalf("exit code %d, want %d; it went on to say\n%s", code, exitInterrupted, rest)
		}
	}
	t.Error("in 20 tries the first signal always ended the program before the second came")
}

// A second run in the folder of one that is going on is refused; a killed run leaves no lock behind.
func TestOneRunPerFolder(t *testing.T) {
	flags, dir := endless(t)
	first := start(t, dir, flags...)
	first.await(t, "update 1 ")
	second := start(t, dir, append(flags, "--resume", "auto")...)
	if code := second.end(t); code != exitFailed || !strings.Contains(second.stderr.String(), "checkpoint_dir: run: another run is using it") {
		t.Errorf("exit code %d; standard error:\n%s", code, second.stderr.String())
	}
	first.Process.Kill()
	first.end(t)
	third := start(t, dir, oneEpoch(flags)...)
	if code := third.end(t); code != exitOK {
		t.Errorf("after a kill: exit code %d; standard error:\n%s", code, third.stderr.String())
	}
}

// A run whose output nobody reads any more ("| tee" ends with Ctrl-C as well) saves before it ends.
func TestClosedOutputSaves(t *testing.T) {
	flags, dir := endless(t)
	s := &started{Cmd: exec.Command("konkanitrain", flags...)}
	s.Dir = dir
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdout, s.Stderr = in, in
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill() })
	in.Close()
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "update 3 ") {
	}
	out.Close()
	s.Wait()
	if code := s.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	if entries, err := checkpoint.List(filepath.Join(dir, "run")); err != nil || len(entries) != 1 || entries[0].Step < 3 {
		t.Errorf("checkpoints %v (%v), want one of update 3 or later", entries, err)
	}
}
