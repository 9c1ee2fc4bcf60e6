package main

import (
	"fmt"
	"io"
	"strings"
)

// outOfMemory is the code with which a run ends that lacks memory.
const outOfMemory = 75

// checkGroup runs the optimized preset in groups that it fits into, after some thought, or can't fit into.
func (s settings) checkGroup(dir string, out io.Writer) error {
	noise, err := sound{utterances: 32, validated: 4, seconds: 8, spread: 0.5, rate: 16000}.write(dir)
	if err != nil {
		return err
	}
	const updates = 3
	t := task{program: s.program}
	args := func(name string, more ...string) []string {
		return append(append(noise.training(dir, name), "--config", "configs/optimized.yaml", "--batch_size", "8", "--grad_accum", "1",
			"--warmup_updates", "2", "--max_updates", fmt.Sprint(updates), "--log_every", "1"), more...)
	}
	t.args = args("free")
	free, err := t.must(0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "with room for everything: peak RSS %.1f MB\n", megabytes(free.peak))

	const fitting = 420_000_000 // bytes
	t.args = args("careless", "--memory_limit", "1TiB")
	w, err := within(fitting, t)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "group of %.0f MB, and a run that is told to look at no limit: code %d, %d killed\n", megabytes(fitting), w.ran[0].code, w.kills)
	if w.kills == 0 {
		return fmt.Errorf("the kernel kills nothing in a group of %d bytes, so that the rest would show nothing", fitting)
	}
	fitted, refused := false, false
	for _, bytes := range []int64{24_000_000, 60_000_000, 120_000_000, 200_000_000, 240_000_000, 280_000_000, 320_000_000, 360_000_000, fitting, 600_000_000} {
		t.args = args(fmt.Sprint(bytes))
		if w, err = within(bytes, t); err != nil {
			return err
		}
		p := w.ran[0]
		fmt.Fprintf(out, "group of %.0f MB: code %d, %d updates, %v, peak RSS %.1f MB\n  %s\n",
			megabytes(bytes), p.code, updatesIn(p.output), w, megabytes(p.peak), gist(p.output))
		switch {
		case w.kills > 0 || p.code < 0:
			return t.failed(p, "was killed")
		case p.code == outOfMemory && updatesIn(p.output) == 0 && strings.Contains(p.output, "out of memory"):
			refused = true
		case p.code == 0 && updatesIn(p.output) == updates && w.own < bytes:
			line, _, err := memoryLine(p.output)
			if err != nil {
				return err
			}
			allowed, why, err := memoryLimit(line)
			if err != nil || p.peak > allowed || !strings.Contains(why, "control group") {
				return t.failed(p, fmt.Sprintf("took %d bytes under a limit of %d by %q (%v)", p.peak, allowed, why, err))
			}
			fitted = fitted || strings.Contains(p.output, "memory: fitted to ")
		default:
			return t.failed(p, fmt.Sprintf("ended with code %d and had %d bytes at most", p.code, w.own))
		}
	}
	if !fitted || !refused {
		return fmt.Errorf("a run was fitted: %t, and one was refused: %t; want both", fitted, refused)
	}
	return nil
}

// gist is the memory line, or else the last line of a run.
func gist(output string) string {
	if line, _, err := memoryLine(output); err == nil {
		return line
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}

// updatesIn counts the lines of updates.
func updatesIn(output string) int { return strings.Count("\n"+output, "\nupdate ") }

// checkPair runs two runs beside each other in a group that holds both only where each keeps to its part.
func (s settings) checkPair(dir string, out io.Writer) error {
	noise, err := sound{utterances: 32, validated: 4, seconds: 8, spread: 0.5, rate: 16000}.write(dir)
	if err != nil {
		return err
	}
	const bytes = 640_000_000
	pair := func(name string, more ...string) (tasks []task) {
		for _, side := range []string{"left", "right"} {
			args := append(noise.training(dir, name+side), "--config", "configs/optimized.yaml", "--batch_size", "16", "--grad_accum", "1",
				"--cpu_workers", "1", "--warmup_updates", "2", "--max_updates", "3", "--log_every", "1")
			tasks = append(tasks, task{program: s.program, args: append(args, more...)})
		}
		return tasks
	}
	w, err := within(bytes, pair("careless", "--memory_limit", "1TiB")...)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "group of %.0f MB, and two runs that are told to look at no limit: %d killed\n", megabytes(bytes), w.kills)
	if w.kills == 0 {
		return fmt.Errorf("two runs fit into %d bytes without any care, so that the rest would show nothing", bytes)
	}
	tasks := pair("", "--memory_fraction", "0.45")
	w, err = within(bytes, tasks...)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "with memory_fraction 0.45 each: %v\n", w)
	for i, p := range w.ran {
		fmt.Fprintf(out, "  code %d, %d updates, peak RSS %.1f MB: %s\n", p.code, updatesIn(p.output), megabytes(p.peak), gist(p.output))
		if p.code != 0 || updatesIn(p.output) != 3 {
			return tasks[i].failed(p, fmt.Sprintf("ended with code %d", p.code))
		}
	}
	if w.kills > 0 || w.own >= bytes {
		return fmt.Errorf("in a group of %d bytes: %v", bytes, w)
	}
	return nil
}
