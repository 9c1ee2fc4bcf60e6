package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
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
		"--subsample_channels 16 --batch_size 8 --grad_accum 126 --warmup_updates 2 --num_epochs 3 --log_every 1 --eval_every 3")
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

// validation meets the long one in the validation set.
func (l *longRuns) validation() error {
	t := l.task("validation-stop", l.without.train, l.with.val, "0")
	p, err := t.must(outOfMemory, "val-020.wav", "line 21", "60.0 s")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "validation, on_oom stop: code %d, %d updates: %s\n", p.code, updatesIn(p.output), gist(p.output))
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
	t := task{program: l.program, args: []string{"eval", "--checkpoint", filepath.Join(l.dir, "plain"), "--manifest", l.with.val}}
	free, err := t.must(0, ": 21 utterances")
	if err != nil {
		return err
	}
	t.args = append(t.args, "--memory_limit", l.small())
	p, err := t.must(0, "val-020.wav", ": 20 utterances")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "eval takes %.1f MB (RSS) with room for everything; under %s bytes: code %d, RSS %.1f MB\n%s",
		megabytes(free.peak), l.small(), p.code, megabytes(p.peak), p.output)
	return nil
}

// transcribe gives the texts of the others, and says why there is none of the long one.
func (l *longRuns) transcribe() error {
	t := task{program: l.program, args: []string{"transcribe", "--checkpoint", filepath.Join(l.dir, "plain"), "--memory_limit", l.small()}}
	for _, i := range []int{0, 1, 20, 2, 3} {
		t.args = append(t.args, filepath.Join(filepath.Dir(l.with.val), fmt.Sprintf("val-%03d.wav", i)))
	}
	p, err := t.must(1, "val-000.wav", "val-003.wav", "out of memory", "cut the file into pieces")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "transcribe under %s bytes: code %d, RSS %.1f MB\n%s", l.small(), p.code, megabytes(p.peak), p.output)
	return nil
}

// small is a limit under which a network without a backward pass lacks room for 60 s, in bytes.
func (l *longRuns) small() string { return "40000000" }

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
