package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// checkHalved lowers the limit of a run in progress, twice: each time so far that what its workers have is halved. It
// holds the run to the one that is left alone.
func (s settings) checkHalved(dir string, out io.Writer) error {
	noise, err := sound{utterances: 16, validated: 2, seconds: 30, spread: 0.3, rate: 8000}.write(dir)
	if err != nil {
		return err
	}
	const updates = 20
	start := func(name string) task {
		return task{program: s.program, args: append(noise.training(dir, name), strings.Fields("--sample_rate 8000 --num_mels 40 --freq_width 8 --max_duration 0 "+
			"--d_model 96 --heads 4 --encoder_layers 6 --decoder_layers 0 --conv_kernel 7 --subsample_channels 16 --batch_size 4 --grad_accum 1 "+
			"--warmup_updates 10 --num_epochs 5 --log_every 1 --eval_every 100 --save_every 100")...)}
	}
	calm, err := start("calm").must(0)
	if err != nil {
		return err
	}
	line, said, err := memoryLine(calm.output)
	if err != nil {
		return err
	}
	arenas, err := arenasIn(line)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\nleft alone: peak RSS %.1f MB\n", line, megabytes(calm.peak))
	t := start("lowered")
	room := said*5/4 + 80e6 // of it a run plans with nine tenths at most
	caps := map[int]int64{5: said - arenas/2, 12: said - arenas*3/4}
	var asked []string
	t.told = func(line string, _ int) {
		n, ok := updateOf(line)
		if limit, due := caps[n]; ok && due {
			fraction := fmt.Sprintf("%.4f", float64(limit)/float64(room))
			p, err := task{program: s.program, args: []string{"mem", "fraction", fraction, "--checkpoint_dir", filepath.Join(dir, "lowered"), "--wait", "60"}}.run()
			asked = append(asked, fmt.Sprintf("at update %d, mem fraction %s of %.1f MB: code %d\n%s", n, fraction, megabytes(room), p.code, p.output))
			if err != nil {
				asked = append(asked, err.Error()+"\n")
			}
		}
	}
	w, err := within(room, t)
	if err != nil {
		return err
	}
	p := w.ran[0]
	fmt.Fprintf(out, "in a group of %.1f MB: code %d, %v\n%s", megabytes(room), p.code, w, strings.Join(asked, ""))
	lowered := 0
	for l := range strings.Lines(p.output) {
		if strings.HasPrefix(l, "MEMORY: the limit is ") && strings.Contains(l, "An update still has 4 utterances") {
			lowered++
			fmt.Fprint(out, l)
		}
	}
	want, got := lossesIn(calm.output), lossesIn(p.output)
	if p.code != 0 || len(got) != updates || len(want) != updates || lowered != 2 {
		return t.failed(p, fmt.Sprintf("made %d updates, left alone %d, and was lowered %d times", len(got), len(want), lowered))
	}
	const rounding = 1e-3 // after several updates Adam has scaled some roundings up to whole steps
	off, validated := math.Abs(got[updates-1]/want[updates-1]-1), math.Abs(validatedIn(p.output)/validatedIn(calm.output)-1)
	fmt.Fprintf(out, "%d updates; last loss %v, left alone %v: %.1e apart; validation %v and %v: %.1e apart\n",
		len(got), got[updates-1], want[updates-1], off, validatedIn(p.output), validatedIn(calm.output), validated)
	if !(off <= rounding) || !(validated <= rounding) {
		return fmt.Errorf("the limit has changed what is learned")
	}
	return nil
}

var arenas = regexp.MustCompile(`([0-9]+) workers? with ([0-9.]+ (?:[kMG]B|bytes?)) each`)

// arenasIn is what all workers of a memory line have, in bytes.
func arenasIn(line string) (int64, error) {
	m := arenas.FindStringSubmatch(line)
	if m == nil {
		return 0, fmt.Errorf("no workers are named: %s", line)
	}
	each, err := parseBytes(m[2])
	workers, _ := strconv.ParseInt(m[1], 10, 64)
	return workers * each, err
}
