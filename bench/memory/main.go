// Command memory holds the memory line of a training run to what the process takes: it runs konkanitrain on noise that
// it writes itself, with validation and checkpoints, and compares what the run says with its peak RSS above that of an
// idle process, one that has started and done nothing.
//
//	go build -o konkanitrain ./cmd/konkanitrain
//	go run ./bench/memory --program ./konkanitrain -- --config configs/optimized.yaml --batch_size 2 --grad_accum 4
//
// What stands behind -- goes to konkanitrain. With --within 10 it fails where the two are more than 10 % apart.
package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	program    string
	training   []string // arguments of the run
	sound      sound
	updates    int
	within     float64 // percent; 0 only shows
	printLines bool
}

func parse(args []string) (settings, error) {
	var s settings
	f := pflag.NewFlagSet("memory", pflag.ContinueOnError)
	f.StringVar(&s.program, "program", "./konkanitrain", "the program to run")
	f.IntVar(&s.sound.utterances, "utterances", 64, "utterances to train on")
	f.IntVar(&s.sound.validated, "validated", 8, "utterances to validate on")
	f.Float64Var(&s.sound.seconds, "seconds", 8, "mean length of an utterance; lengths go from half of it to one and a half")
	f.IntVar(&s.sound.rate, "rate", 16000, "samples a second")
	f.IntVar(&s.updates, "updates", 6, "updates; half of them come before the first validation and the first save")
	f.Float64Var(&s.within, "within", 0, "fail where what the run says is further from what it takes, in percent; 0 for never")
	f.BoolVar(&s.printLines, "lines", false, "show what the run prints")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.training = f.Args()
	switch {
	case s.updates < 2:
		return s, fmt.Errorf("--updates is %d, want 2 or more: one is made before the validation", s.updates)
	case !(s.within >= 0):
		return s, fmt.Errorf("--within is %v %%, want 0 or more", s.within)
	}
	return s, s.sound.check()
}

func run(args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	idle, err := measure(s.program, []string{"version"}) // first, while this process is smaller still
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "konkanitrain-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	train, val, err := s.sound.write(dir)
	if err != nil {
		return err
	}
	half := fmt.Sprint(s.updates / 2)
	ran, err := measure(s.program, append([]string{
		"--train_manifest", train, "--val_manifest", val, "--checkpoint_dir", filepath.Join(dir, "run"),
		"--max_updates", fmt.Sprint(s.updates), "--eval_every", half, "--save_every", half, "--log_every", "1",
	}, s.training...))
	if err != nil {
		return err
	}
	if s.printLines {
		fmt.Fprint(out, ran.output)
	}
	return s.report(out, idle, ran)
}

// report shows what the run said beside what it took.
func (s settings) report(out io.Writer, idle, ran process) error {
	line, said, err := memoryLine(ran.output)
	if err != nil {
		return err
	}
	above := ran.peak - idle.peak
	fmt.Fprintln(out, line)
	fmt.Fprintf(out, "peak RSS %.1f MB (anonymous %.1f, file %.1f), of an idle process %.1f MB: %.1f MB above it\n",
		megabytes(ran.peak), megabytes(ran.anonymous), megabytes(ran.file), megabytes(idle.peak), megabytes(above))
	off := 100 * (said/megabytes(above) - 1)
	fmt.Fprintf(out, "said / taken: %.3f (%+.1f %%)\n", said/megabytes(above), off)
	if s.within > 0 && math.Abs(off) > s.within {
		return fmt.Errorf("the run says %.1f MB and takes %.1f MB: more than %v %% apart", said, megabytes(above), s.within)
	}
	return nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }
