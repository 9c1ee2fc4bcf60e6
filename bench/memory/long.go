package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkLong trains on a thousand utterances of 3 s, and on one of 60 s with them, for which there is no room.
func (s settings) checkLong(dir string, out io.Writer) error {
	l := longRuns{settings: s, dir: dir, out: out}
	const utterances = 1000
	for name, long := range map[string]float64{"with": 60, "without": 0} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
		n, err := sound{utterances: utterances, validated: 20, seconds: 3, spread: 0, rate: 8000, long: long}.write(folder)
		if err != nil {
			return err
		}
		if long > 0 {
			l.with = n
		} else {
			l.without = n
		}
	}
	for _, part := range []func() error{l.plain, l.stop, l.skip, l.validation, l.eval, l.transcribe} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// longRuns are the runs of checkLong.
type longRuns struct {
	settings
	dir           string
	out           io.Writer
	with, without noise
	limit         []string // under which all runs stand
	losses        []float64
	validated     float64 // the loss, without the long one
}

// task is a run on two manifests. A window takes in all of a set, so that each update is made of the same utterances
// whatever their order is, which a line more changes.
func (l *longRuns) task(name, train, val, maxDuration string, more ...string) task {
	args := strings.Fields("--sample_rate 8000 --num_mels 40 --freq_width 8 --d_model 64 --heads 4 --encoder_layers 2 --decoder_layers 1 --conv_kernel 7 " +
		"--subsample_channels 16 --batch_size 8 --grad_accum 126 --cpu_workers 2 --warmup_updates 2 --num_epochs 3 --log_every 1 --eval_every 3")
	args = append(args, "--train_manifest", train, "--val_manifest", val, "--checkpoint_dir", filepath.Join(l.dir, name), "--max_duration", maxDuration)
	return task{program: l.program, args: append(append(args, l.limit...), more...)}
}

// plain trains without the long one, under a limit that is just what that takes, and what 60 s of sound take beside
// buffers.
func (l *longRuns) plain() error {
	p, err := l.task("plain", l.without.train, l.without.val, "0").must(0)
	if err != nil {
		return err
	}
	line, said, err := memoryLine(p.output)
	if err != nil {
		return err
	}
	const beside = 32_000_000 // bytes
	l.limit = []string{"--memory_limit", fmt.Sprint(said + beside)}
	l.losses, l.validated = lossesIn(p.output), validatedIn(p.output)
	fmt.Fprintf(l.out, "%s\n1000 utterances of 3 s, all in each update: losses %.4f, validation %.4f\nall that follows stands under %.1f MB\n",
		line, l.losses, l.validated, megabytes(said+beside))
	return nil
}

// advised is the advice of a run that is refused.
var advised = regexp.MustCompile(`max_duration ([0-9.]+) lets the rest train`)

// stop is refused, and as it advises the rest trains.
func (l *longRuns) stop() error {
	t := l.task("stop", l.with.train, l.without.val, "0")
	p, err := t.must(outOfMemory, "train-1000.wav", "line 1001", "60.0 s")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "on_oom stop: code %d, %d updates: %s\n", p.code, updatesIn(p.output), gist(p.output))
	m := advised.FindStringSubmatch(p.output)
	if m == nil || updatesIn(p.output) != 0 {
		return t.failed(p, "gave no advice, or trained first")
	}
	t = l.task("advised", l.with.train, l.without.val, m[1])
	if p, err = t.must(0); err != nil {
		return err
	}
	return l.same(t, p, "with max_duration "+m[1])
}

// skip trains the others.
func (l *longRuns) skip() error {
	t := l.task("skip", l.with.train, l.without.val, "0", "--on_oom", "skip")
	p, err := t.must(0, "left out for lack of memory (on_oom skip): train-1000.wav", "line 1001), 60.0 s")
	if err != nil {
		return err
	}
	return l.same(t, p, "on_oom skip")
}

// same holds a run to the one without the long utterance. All but the order of sums is equal.
func (l *longRuns) same(t task, p process, name string) error {
	const rounding = 1e-4 // of a loss, after three updates
	losses, validated := lossesIn(p.output), validatedIn(p.output)
	off := math.Abs(validated/l.validated - 1)
	for i := range min(len(losses), len(l.losses)) {
		off = max(off, math.Abs(losses[i]/l.losses[i]-1))
	}
	fmt.Fprintf(l.out, "%s: losses %.4f, validation %.4f: %.1e apart at most\n", name, losses, validated, off)
	if len(losses) != len(l.losses) || len(losses) == 0 || !(off <= rounding) {
		return t.failed(p, fmt.Sprintf("has other losses than without the long utterance: %v", l.losses))
	}
	return nil
}

// validation meets the long one in the validation set. Without a backward pass it takes so little that the limit has
// to be lower: half of what workers would have goes.
func (l *longRuns) validation() error {
	l.limit = nil
	p, err := l.task("validation-free", l.without.train, l.with.val, "0").must(0, "memory: scoring val-020.wav (60.0 s) takes more than any training pass")
	if err != nil {
		return err
	}
	line, said, err := memoryLine(p.output)
	if err != nil {
		return err
	}
	arenas, err := arenasIn(line)
	if err != nil {
		return err
	}
	l.limit = []string{"--memory_limit", fmt.Sprint(said - arenas/2)}
	t := l.task("validation-stop", l.without.train, l.with.val, "0")
	if p, err = t.must(outOfMemory, "val-020.wav", "line 21", "60.0 s"); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "validation under %.1f MB, on_oom stop: code %d, %d updates: %s\n", megabytes(said-arenas/2), p.code, updatesIn(p.output), gist(p.output))
	if updatesIn(p.output) != 0 {
		return t.failed(p, "trained first")
	}
	t = l.task("validation-skip", l.without.train, l.with.val, "0", "--on_oom", "skip")
	if p, err = t.must(0, "left out for lack of memory (on_oom skip): val-020.wav", "line 21), 60.0 s"); err != nil {
		return err
	}
	return l.same(t, p, "validation, on_oom skip")
}

// eval scores the others, and counts the one it can't.
func (l *longRuns) eval() error {
	return l.sweep([]string{"eval", "--checkpoint", filepath.Join(l.dir, "plain"), "--manifest", l.with.val},
		[]string{": 21 utterances"}, []string{": 20 utterances", "val-020.wav", "a pass over it alone takes", "of the lines: 1 no memory for it"})
}

// transcribe gives the texts of the others, and says why there is none of the long one.
func (l *longRuns) transcribe() error {
	args := []string{"transcribe", "--checkpoint", filepath.Join(l.dir, "plain")}
	for _, i := range []int{0, 1, 20, 2, 3} {
		args = append(args, filepath.Join(filepath.Dir(l.with.val), fmt.Sprintf("val-%03d.wav", i)))
	}
	return l.sweep(args, []string{"val-000.wav\t", "val-020.wav\t", "val-003.wav\t"},
		[]string{"val-000.wav\t", "val-001.wav\t", "val-002.wav\t", "val-003.wav\t", "val-020.wav: 60 s of sound are too long", "cut the file into pieces"})
}

// sweep runs a command under limits that fall. First it does all, then all but the long one, which it names, and last
// it may refuse, in words. It never takes more than the limit, once that is more than the program itself.
func (l *longRuns) sweep(args, all, others []string) error {
	const most, least, program = 100_000_000, 20_000_000, 26_000_000 // bytes
	has := func(p process, words []string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(p.output, w) })
	}
	kind, counts := 0, [3]int{}
	for bytes := int64(most); bytes >= least; bytes -= 2_000_000 {
		t := task{program: l.program, args: append(slices.Clone(args), "--memory_limit", fmt.Sprint(bytes))}
		p, err := t.run()
		if err != nil {
			return err
		}
		before := kind
		switch {
		case p.code == 0 && has(p, all):
			kind = 0
		case has(p, others):
			kind = 1
		case p.code > 0 && has(p, []string{"out of memory"}):
			kind = 2
		default:
			return t.failed(p, fmt.Sprintf("ended with code %d", p.code))
		}
		if counts[kind]++; counts[kind] == 1 {
			fmt.Fprintf(l.out, "%s under %.0f MB: code %d, RSS %.1f MB\n%s", args[0], megabytes(bytes), p.code, megabytes(p.peak), p.output)
		}
		if kind < before || bytes > program && p.peak > bytes {
			return t.failed(p, fmt.Sprintf("did more than under a larger limit, or took more than that: %d bytes", p.peak))
		}
	}
	fmt.Fprintf(l.out, "%s under limits from %.0f to %.0f MB: all done %d times, all but the long one %d, refused %d\n",
		args[0], megabytes(most), megabytes(least), counts[0], counts[1], counts[2])
	if counts[0] == 0 || counts[1] == 0 { // how little is refused as a whole depends on the command
		return fmt.Errorf("%s has not met both of the first two", args[0])
	}
	return nil
}

// lossesIn are the losses of the updates that a run has printed.
func lossesIn(output string) (losses []float64) {
	for line := range strings.Lines(output) {
		if _, ok := updateOf(line); ok {
			losses = append(losses, numberAfter(line, "loss "))
		}
	}
	return losses
}

// validatedIn is the loss of the last validation that a run has printed; NaN without one.
func validatedIn(output string) float64 {
	loss := math.NaN()
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "validation after ") {
			loss = numberAfter(line, "loss ")
		}
	}
	return loss
}

// numberAfter is the number behind a word; NaN if there is none.
func numberAfter(line, word string) float64 {
	_, rest, _ := strings.Cut(line, word)
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return math.NaN()
	}
	return n
}
