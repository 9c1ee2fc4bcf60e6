// Command kill kills a training run again and again, at random moments, lets it go on each time, and holds what it ends
// with to the run that was never killed: weights and moments byte for byte, metrics record by record.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// options say what is killed, and how often.
type options struct {
	kills   int
	updates int      // of a run
	seed    uint64   // of the moments
	data    string   // folder with train.jsonl and validation.jsonl
	program string   // the binary; "" has it built
	further []string // flags of every run
}

func main() {
	var o options
	pflag.IntVar(&o.kills, "kills", 500, "how often a run is killed")
	pflag.IntVar(&o.updates, "updates", 60, "updates of a run; one that reaches its end is compared, and another one begins")
	pflag.Uint64Var(&o.seed, "seed", 1, "of the random moments")
	pflag.StringVar(&o.data, "data", filepath.Join("examples", "konkani_words"), "folder with train.jsonl and validation.jsonl")
	pflag.StringVar(&o.program, "program", "", "the binary of konkanitrain; empty: built from the source in the working directory")
	pflag.Usage = func() {
		fmt.Fprintf(os.Stderr, "kill [flags] [-- flags of every run, which overrule its own: --ema_decay 0.9 --num_epochs 15]\n%s", pflag.CommandLine.FlagUsages())
	}
	pflag.Parse()
	o.further = pflag.Args()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

// tiny is the settings of every run, which its flags overrule.
const tiny = `
d_model: 16
heads: 2
encoder_layers: 1
decoder_layers: 0
conv_kernel: 3
subsample_channels: 4
num_mels: 20
freq_width: 4
batch_size: 3
grad_accum: 1
warmup_updates: 10
num_epochs: 100000
cpu_workers: 1
num_workers: 1
eval_every: 5
log_every: 3
keep_last: 2
`

// trial is a series of runs that are killed.
type trial struct {
	options
	dir     string   // for all that it makes
	flags   []string // of every run
	moment  *rand.Rand
	longest time.Duration // until a kill

	straight string // the folder of the run that is never killed
	counts
}

// counts are what the kills have met.
type counts struct {
	killed, runs             int
	early, saving, recording int // kills before the first checkpoint, in a save, and behind the last checkpoint
	idle                     int // kills of sessions that have saved nothing
}

// run makes a trial, and says what came of it.
func run(o options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "kill-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &trial{options: o, dir: dir, moment: rand.New(rand.NewPCG(o.seed, 0)), straight: filepath.Join(dir, "straight")}
	if err := t.prepare(); err != nil {
		return err
	}
	began := time.Now()
	if text, err := t.start(t.straight).CombinedOutput(); err != nil {
		return fmt.Errorf("the run that is not killed: %w\n%s", err, text)
	}
	took := time.Since(began)
	t.longest = took / 3
	fmt.Fprintf(out, "a run of %d updates, with a checkpoint after each, takes %.2f s; it is killed after up to %.2f s at first\n",
		o.updates, took.Seconds(), t.longest.Seconds())
	for t.killed < o.kills {
		if err := t.round(); err != nil {
			return fmt.Errorf("run %d, after %d kills: %w", t.runs+1, t.killed, err)
		}
		t.runs++
	}
	fmt.Fprintf(out, "%d kills in %d runs: %d before the first checkpoint, %d of sessions that had saved nothing, %d in a save, %d with records to make again\n"+
		"each run ended with the weights and moments of the run that was not killed, byte for byte, and with its metrics\n",
		t.killed, t.runs, t.early, t.idle, t.saving, t.recording)
	return nil
}

// prepare builds the program, and writes the manifests of a few utterances.
func (t *trial) prepare() error {
	if t.program == "" {
		t.program = filepath.Join(t.dir, "konkanitrain")
		build := exec.Command("go", "build", "-o", t.program, "./cmd/konkanitrain")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	settings := filepath.Join(t.dir, "settings.yaml")
	if err := os.WriteFile(settings, []byte(tiny), 0o666); err != nil {
		return err
	}
	t.flags = []string{"--config", settings, "--save_every", "1", "--resume", "auto", "--max_updates", strconv.Itoa(t.updates)}
	t.flags = append(t.flags, t.further...)
	for name, n := range map[string]int{"train": 11, "validation": 3} {
		path := filepath.Join(t.dir, name+".jsonl")
		if err := copyManifest(filepath.Join(t.data, name+".jsonl"), path, n); err != nil {
			return err
		}
		t.flags = append(t.flags, "--"+map[string]string{"train": "train", "validation": "val"}[name]+"_manifest", path)
	}
	return nil
}

// copyManifest writes the first n lines of a manifest, with absolute paths.
func copyManifest(from, to string, n int) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(filepath.Dir(from))
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for line := range bytes.Lines(text) {
		var entry map[string]any
		if err := json.Unmarshal(line, &entry); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		path, _ := entry["audio_filepath"].(string)
		entry["audio_filepath"] = filepath.Join(folder, filepath.FromSlash(path))
		if err := json.NewEncoder(&list).Encode(entry); err != nil {
			return err
		}
		if n--; n == 0 {
			break
		}
	}
	return os.WriteFile(to, list.Bytes(), 0o666)
}

// start is a session of a run in a folder.
func (t *trial) start(folder string) *exec.Cmd {
	return exec.Command(t.program, append(t.flags[:len(t.flags):len(t.flags)], "--checkpoint_dir", folder)...)
}

// round makes one run to its end, killed on the way, and compares it.
func (t *trial) round() error {
	folder := filepath.Join(t.dir, "killed")
	defer os.RemoveAll(folder)
	for before := ""; ; {
		ended, said, err := t.session(folder)
		if err != nil {
			return err
		}
		t.note(said)
		if ended {
			return t.compare(folder)
		}
		list, err := filepath.Glob(filepath.Join(folder, "step-*"))
		if err != nil {
			return err
		}
		newest := ""
		if len(list) > 0 {
			newest = slices.Max(list)
		} else {
			t.early++
		}
		// Kills shall come at all moments, in the start of a session too: one in three or so comes to nothing new. How long
		// a session has to last for that depends on how busy the machine is.
		if newest == before {
			t.idle++
			t.longest += t.longest / 4
		} else {
			t.longest -= t.longest / 10
		}
		before = newest
	}
}

// session goes on with a run until it ends or, at a random moment, is killed.
func (t *trial) session(folder string) (ended bool, said string, err error) {
	var text bytes.Buffer
	cmd := t.start(folder)
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		return false, "", err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	if t.killed < t.kills {
		select {
		case err = <-done:
		case <-time.After(time.Duration(t.moment.Int64N(int64(t.longest)))):
			if killed := cmd.Process.Kill(); killed != nil && !errors.Is(killed, os.ErrProcessDone) {
				return false, "", killed
			}
			err = <-done
		}
	} else {
		err = <-done
	}
	if err != nil && !cmd.ProcessState.Exited() {
		t.killed++
		return false, text.String(), nil
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, text.String())
	}
	return true, text.String(), err
}

// note counts what a session says of the kill before it.
func (t *trial) note(said string) {
	if strings.Contains(said, "left by a save that was killed") {
		t.saving++
	}
	if strings.Contains(said, "metrics.jsonl: the records of what came after update") {
		t.recording++
	}
}

// compare holds a run to the one that was not killed.
func (t *trial) compare(folder string) error {
	step := fmt.Sprintf("step-%08d", t.updates)
	files := []string{filepath.Join(step, "model.safetensors"), filepath.Join(step, "optimizer.safetensors")}
	averaged := filepath.Join("averaged", step, "model.safetensors")
	if _, err := os.Stat(filepath.Join(t.straight, averaged)); err == nil {
		files = append(files, averaged)
	}
	for _, file := range files {
		want, errWant := os.ReadFile(filepath.Join(t.straight, file))
		got, errGot := os.ReadFile(filepath.Join(folder, file))
		if err := errors.Join(errWant, errGot); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s is not that of the run that was not killed", file)
		}
	}
	want, errWant := figures(t.straight)
	got, errGot := figures(folder)
	if err := errors.Join(errWant, errGot); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the metrics are\n%swant those of the run that was not killed:\n%s", got, want)
	}
	for _, pattern := range []string{".tmp-*", "*.partial"} {
		if left, err := filepath.Glob(filepath.Join(folder, pattern)); err != nil || len(left) > 0 {
			return fmt.Errorf("left over are %v, %w", left, err)
		}
	}
	return nil
}

// figures are a run's records of updates and validations, without what is about time.
func figures(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "metrics.jsonl"))
	var list strings.Builder
	for line := range bytes.Lines(text) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			return "", fmt.Errorf("metrics.jsonl: %w in %q", err, line)
		}
		if record["event"] != "update" && record["event"] != "validation" {
			continue
		}
		for _, key := range []string{"time", "seconds", "wait_share", "took", "memory"} {
			delete(record, key)
		}
		plain, err := json.Marshal(record)
		if err != nil {
			return "", err
		}
		list.Write(append(plain, '\n'))
	}
	return list.String(), err
}
