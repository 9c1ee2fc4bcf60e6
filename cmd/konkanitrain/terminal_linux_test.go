package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal makes a pseudo-terminal so many columns wide: what is written to tty is read from the other side.
func terminal(t *testing.T, columns int) (side, tty *os.File) {
	t.Helper()
	side, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("NO TERMINAL TO TEST WITH: %v", err)
	}
	t.Cleanup(func() { side.Close() })
	if err := unix.IoctlSetPointerInt(int(side.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(side.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	return side, tty
}

// onTerminal runs the program on a terminal and returns what it has written there.
func onTerminal(t *testing.T, dir string, columns int, args ...string) string {
	t.Helper()
	side, tty := terminal(t, columns)
	c := exec.Command("konkanitrain", args...)
	c.Dir, c.Stdout, c.Stderr = dir, tty, tty
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	written, err := io.ReadAll(side)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is the end of a terminal
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	return string(written)
}

// At any width no line that is written over wraps, and each epoch's loss stays on the screen.
func TestProgressOnATerminal(t *testing.T) {
	for _, columns := range []int{40, 80, 200} {
		dir := t.TempDir()
		if err := corpus(dir, "train", 12); err != nil {
			t.Fatal(err)
		}
		flags := strings.Fields("--train_manifest train.jsonl --val_manifest train.jsonl --sample_rate 8000 --num_mels 20 --d_model 16 --heads 2 " +
			"--encoder_layers 1 --decoder_layers 1 --subsample_channels 4 --subsampling 2 --conv_kernel 3 --batch_size 3 --grad_accum 1 --num_epochs 6 " +
			"--warmup_updates 3 --log_every 1 --cpu_workers 1 --checkpoint_dir run --memory_log off")
		written := onTerminal(t, dir, columns, append(flags, "--max_updates", "12")...)
		written += onTerminal(t, dir, columns, append(flags, "--max_updates", "0", "--resume", "auto")...)
		over := 0
		for line := range strings.Lines(written) {
			states := strings.Split(strings.TrimSuffix(strings.TrimRight(line, "\n"), "\r"), "\r")
			for _, s := range states[:len(states)-1] { // the last one stays
				if s = strings.TrimRight(s, "\b"); strings.TrimSpace(s) != "" {
					over++
				}
				if len(s) >= columns {
					t.Errorf("%d columns: %q has %d", columns, s, len(s))
				}
			}
		}
		if over < 22 { // the last ones of each session stay
			t.Errorf("%d columns: %d lines were written over, want about one for each of 24 updates", columns, over)
		}
		for _, want := range []string{"update 24/24", "\repoch 1/6  loss ", "\repoch 3/6  loss ", "\repoch 6/6  loss "} {
			if strings.Count(written, want) < 1 {
				t.Errorf("%d columns: no %q; the end is %q", columns, want, written[max(0, len(written)-1000):])
			}
		}
		if strings.Contains(written, "update 1  epoch") {
			t.Errorf("%d columns: plain lines on a terminal", columns)
		}
	}
}

// Where there is no terminal, lines say how many epochs there are and how much time is left.
func TestProgressInAPipe(t *testing.T) {
	flags, dir := endless(t)
	c := exec.Command("konkanitrain", append(oneEpoch(flags), "--num_epochs=1")...)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out, []byte("\nupdate 1  epoch 1/1  loss ")) || !bytes.Contains(out, []byte("  0:00 left\n")) || bytes.Contains(out, []byte("\r")) {
		t.Errorf("%s", out)
	}
}
