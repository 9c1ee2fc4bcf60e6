package main

import (
	"fmt"
	"io"
	"math"
)

// checkLine holds what a run says that it takes to its peak RSS.
func (s settings) checkLine(dir string, out io.Writer) error {
	noise, err := s.sound.write(dir)
	if err != nil {
		return err
	}
	half := fmt.Sprint(s.updates / 2)
	args := append(noise.training(dir, "run"), "--max_updates", fmt.Sprint(s.updates), "--eval_every", half, "--save_every", half, "--log_every", "1")
	ran, err := task{program: s.program, args: append(args, s.training...)}.must(0)
	if err == nil {
		err = ran.known()
	}
	if err != nil {
		return err
	}
	if s.printLines {
		fmt.Fprint(out, ran.output)
	}
	return s.reportLine(out, ran)
}

// reportLine shows what the run said beside what it took.
func (s settings) reportLine(out io.Writer, ran process) error {
	line, rounded, err := memoryLine(ran.output)
	if err != nil {
		return err
	}
	said, err := partsIn(line)
	if err != nil {
		return err
	}
	if math.Abs(float64(said)/float64(rounded)-1) > 0.05 { // 1.1 GB may be 1.05
		return fmt.Errorf("the parts come to %d bytes: %s", said, line)
	}
	fmt.Fprintln(out, line)
	fmt.Fprintf(out, "peak RSS %.1f MB (anonymous %.1f, file %.1f)\n", megabytes(ran.peak), megabytes(ran.anonymous), megabytes(ran.file))
	off := 100 * (float64(said)/float64(ran.peak) - 1)
	fmt.Fprintf(out, "said, as the sum of the parts: %.1f MB; said / taken: %.3f (%+.1f %%)\n", megabytes(said), float64(said)/float64(ran.peak), off)
	if s.within > 0 && math.Abs(off) > s.within {
		return fmt.Errorf("the run says %.1f MB and takes %.1f MB: more than %v %% apart", megabytes(said), megabytes(ran.peak), s.within)
	}
	return nil
}
