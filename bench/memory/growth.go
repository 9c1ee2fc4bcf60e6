package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Growth of resident memory that is taken for noise: the garbage collector's, and that of the memory of what has not
// been met before, such as a loader that gets further ahead than ever. It is the rise of a straight line over all looks
// after the warm-up, as a share of what is resident at its start.
const mostGrowth = 0.03

// look is what a process had when it printed a line.
type look struct {
	count    float64 // what was done up to then: updates, or files
	resident float64 // bytes
	seconds  float64 // of processors, that the process has used
	wall     float64 // seconds, since some moment
}

// checkGrowth makes many updates of a tiny network on utterances of many lengths, and then has many files transcribed.
func (s settings) checkGrowth(dir string, out io.Writer) error {
	noise, err := sound{utterances: 64, validated: 8, seconds: 1, spread: 0.7, rate: 8000}.write(dir)
	if err != nil {
		return err
	}
	const updates, files = 20_000, 2000
	var looks []look
	t := task{program: s.program}
	t.args = append(noise.training(dir, "run"), strings.Fields("--sample_rate 8000 --num_mels 20 --freq_width 4 --d_model 16 --heads 2 --encoder_layers 1 "+
		"--decoder_layers 1 --conv_kernel 3 --subsample_channels 4 --batch_size 2 --grad_accum 2 --warmup_updates 1000 --num_epochs 100000 "+
		"--eval_every 2000 --save_every 2000 --keep_last 1 --log_every 100 --max_updates "+strconv.Itoa(updates))...)
	t.told = func(line string, pid int) {
		if n, ok := updateOf(line); ok {
			looks = append(looks, lookAt(pid, n))
		}
	}
	if _, err := t.must(0); err != nil {
		return err
	}
	const warm = updates / 10 // all shapes have been met, and bound to each worker
	if err := level(out, "update", looks, warm); err != nil {
		return err
	}
	first, last := pace(looks, warm, warm+1000), pace(looks, updates-1000, updates)
	slower := 100 * (last.wall/first.wall - 1)
	fmt.Fprintf(out, "an update takes %.3f ms (%.3f ms of processors) in updates %d to %d, %.3f ms (%.3f) in the last thousand: %+.1f %% (%+.1f %%)\n",
		1e3*first.wall, 1e3*first.seconds, warm, warm+1000, 1e3*last.wall, 1e3*last.seconds, slower, 100*(last.seconds/first.seconds-1))
	if s.level > 0 && slower > s.level {
		return fmt.Errorf("updates have become slower by %.1f %%, more than %v %%", slower, s.level)
	}
	return s.checkFiles(dir, out, files)
}

// checkFiles has many files transcribed with the network in dir/run.
func (s settings) checkFiles(dir string, out io.Writer, files int) error {
	_, err := sound{utterances: files, validated: 1, seconds: 1, spread: 0.7, rate: 8000}.write(dir)
	if err != nil {
		return err
	}
	t := task{program: s.program, args: []string{"transcribe", "--checkpoint", filepath.Join(dir, "run")}}
	for i := range files {
		t.args = append(t.args, filepath.Join(dir, fmt.Sprintf("train-%03d.wav", i)))
	}
	var looks []look
	n := 0
	t.told = func(line string, pid int) {
		if strings.Contains(line, ".wav") {
			if n++; n%10 == 0 {
				looks = append(looks, lookAt(pid, n))
			}
		}
	}
	if _, err := t.must(0); err != nil {
		return err
	}
	if n != files {
		return fmt.Errorf("%d lines for %d files", n, files)
	}
	return level(out, "file", looks, float64(files)/5)
}

// updateOf is the number in a line as "update 40  epoch 1 ...".
func updateOf(line string) (int, bool) {
	rest, ok := strings.CutPrefix(line, "update ")
	number, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}

// level shows the straight line through the looks after the warm-up, and is an error where it rises.
func level(out io.Writer, what string, looks []look, warm float64) error {
	var kept []look
	for _, l := range looks {
		if l.count > warm && l.resident > 0 { // at its very end a process has nothing more
			kept = append(kept, l)
		}
	}
	if len(kept) < 20 {
		return fmt.Errorf("only %d looks at resident memory: that says nothing", len(kept))
	}
	slope, offset, deviation := fit(kept)
	from, to := kept[0].count, kept[len(kept)-1].count
	start, rise := offset+slope*from, slope*(to-from)
	fmt.Fprintf(out, "resident memory from %s %.0f to %.0f: %.1f MB, and %+.1f bytes with each %s (%+.2f MB in all, %+.1f %%); looks differ from the line by %.2f MB\n",
		what, from, to, start/1e6, slope, what, rise/1e6, 100*rise/start, deviation/1e6)
	if rise > mostGrowth*start {
		return fmt.Errorf("resident memory rises by %.0f bytes with each %s", slope, what)
	}
	return nil
}

// fit is the straight line of resident memory over the count, by least squares, and how far looks differ from it: the
// root of the mean square.
func fit(looks []look) (slope, offset, deviation float64) {
	var n, x, y, xx, xy float64
	for _, l := range looks {
		n, x, y, xx, xy = n+1, x+l.count, y+l.resident, xx+l.count*l.count, xy+l.count*l.resident
	}
	slope = (n*xy - x*y) / (n*xx - x*x)
	offset = (y - slope*x) / n
	sum := 0.0
	for _, l := range looks {
		d := l.resident - offset - slope*l.count
		sum += d * d
	}
	return slope, offset, math.Sqrt(sum / n)
}

// pace is the time of one count between two looks: the first ones from these counts on.
func pace(looks []look, from, to float64) look {
	var a, b look
	for _, l := range looks {
		if a.count == 0 && l.count >= from {
			a = l
		}
		if b.count == 0 && l.count >= to {
			b = l
		}
	}
	n := b.count - a.count
	return look{n, 0, (b.seconds - a.seconds) / n, (b.wall - a.wall) / n}
}

// began is a moment to count from.
var began = time.Now()

// ticks is how many parts of a second /proc counts processor time in, on every Linux.
const ticks = 100

// lookAt looks at a process now. What can't be read is 0.
func lookAt(pid, count int) look {
	parts, _ := residentParts(strconv.Itoa(pid))
	l := look{count: float64(count), resident: float64(parts["VmRSS"]), wall: time.Since(began).Seconds()}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the name, which may hold spaces
	if fields := strings.Fields(rest); len(fields) > 12 {
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		l.seconds = (user + system) / ticks
	}
	return l
}
