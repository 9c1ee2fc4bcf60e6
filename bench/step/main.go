// Command step times training steps on made-up utterances: forward, loss, backward, clip and AdamW, with the
// keys and options of the PyTorch reference's own benchmark, so that the two can be run in turn.
//
//	go run ./bench/step --d_model 192 --encoder_layers 8 --decoder_layers 4 --batch 2 --seconds 8
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"konkanitrain/device/cuda"
	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/update"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "step:", err)
		os.Exit(1)
	}
}

// result has the keys of the reference's benchmark, and some of our own.
type result struct {
	DModel        int       `json:"d_model"`
	EncoderLayers int       `json:"encoder_layers"`
	DecoderLayers int       `json:"decoder_layers"`
	Batch         int       `json:"batch"`
	Seconds       float64   `json:"seconds"` // of sound in each utterance
	Tokens        int       `json:"tokens"`
	Dropout       float64   `json:"dropout"`
	Precision     string    `json:"precision"`
	Parameters    int       `json:"parameters"`
	Median        float64   `json:"median_s"` // of a step
	Min           float64   `json:"min_s"`
	Mean          float64   `json:"mean_s"`
	CPU           float64   `json:"cpu_s_per_step"` // all threads
	Audio         float64   `json:"audio_seconds_per_second"`
	PeakRSS       float64   `json:"peak_rss_mib"`
	Allocated     float64   `json:"allocated_mib"`
	GFLOPs        float64   `json:"gflop_per_second"`
	GFLOP         float64   `json:"gflop_per_step"`
	Loss          float64   `json:"loss"`
	Times         []float64 `json:"times_s"`
	Workers       int       `json:"workers"`
	Device        string    `json:"device"`
	PeakOnCard    float64   `json:"peak_allocated_mib,omitempty"` // of a card's memory, by buffers
	Launches      float64   `json:"launches_per_step,omitempty"`  // of kernels and products, in graphs and alone
}

// settings are what the flags say.
type settings struct {
	net                  model.Config
	batch, steps, warmup int
	workers              int // 0: one for each core
	seconds              float64
	tokens               float64 // a second
	half, recompute      bool
	device               string
	card                 cuda.Options
	asJSON, profile      bool
	cpuProfile           string
}

func parse(args []string) (settings, error) {
	s := settings{net: model.Config{ConvKernel: 31, SubsampleChannels: 64, NumMels: 80, CTCWeight: 0.3, LabelSmoothing: 0.1}}
	f := pflag.NewFlagSet("step", pflag.ContinueOnError)
	f.IntVar(&s.net.DModel, "d_model", 192, "width")
	f.IntVar(&s.net.Heads, "heads", 4, "attention heads")
	f.IntVar(&s.net.EncoderLayers, "encoder_layers", 8, "Conformer blocks")
	f.IntVar(&s.net.DecoderLayers, "decoder_layers", 4, "decoder layers")
	f.IntVar(&s.net.Vocab, "vocab", 100, "vocabulary size")
	f.IntVar(&s.net.Subsampling, "factor", 4, "subsampling")
	f.Float64Var(&s.net.Dropout, "dropout", 0.1, "dropout")
	f.IntVar(&s.batch, "batch", 2, "utterances")
	f.Float64Var(&s.seconds, "seconds", 8, "of sound in each, at 100 frames a second")
	f.Float64Var(&s.tokens, "tokens_per_second", 10, "target tokens")
	f.IntVar(&s.workers, "threads", 0, "compute workers; 0: one for each core")
	f.IntVar(&s.steps, "steps", 10, "steps to time")
	f.IntVar(&s.warmup, "warmup_steps", 2, "steps before")
	f.BoolVar(&s.half, "fp16", false, "store saved activations in half precision; on a card: compute in half precision")
	f.StringVar(&s.device, "device", "cpu", "cpu, or cuda for a card in a build with the tag gpu")
	f.IntVar(&s.card.Index, "card", 0, "number of the card")
	f.StringVar(&s.card.Driver, "cuda_driver", "", "file of the CUDA driver's library; empty: the system's")
	f.StringVar(&s.card.BLAS, "cuda_blas", "", "file of cuBLAS; empty: the newest that is found")
	f.BoolVar(&s.card.NoGraphs, "no_graphs", false, "queue launches one by one")
	f.BoolVar(&s.recompute, "recompute", false, "compute activations again for the backward pass instead of keeping them")
	f.BoolVar(&s.asJSON, "json", false, "print one JSON line")
	f.BoolVar(&s.profile, "profile", false, "print the time by operation")
	f.StringVar(&s.cpuProfile, "cpu_profile", "", "write a pprof profile here")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	return s, s.validate()
}

// validate lists what can't be measured.
func (s settings) validate() error {
	var problems []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	require(s.batch >= 1 && s.steps >= 1, "batch is %d and steps is %d, want 1 or more", s.batch, s.steps)
	require(s.warmup >= 0 && s.workers >= 0, "warmup_steps is %d and threads is %d, want 0 or more", s.warmup, s.workers)
	require(s.seconds >= 0.01 && s.seconds <= 3600, "seconds is %g, want 0.01 to 3600", s.seconds)
	require(s.tokens >= 0 && s.tokens <= 100, "tokens_per_second is %g, want 0 to 100", s.tokens)
	require(s.device == "cpu" || s.device == "cuda", "device is %q, want cpu or cuda", s.device)
	require(s.net.Vocab >= 4, "vocab is %d, want 4 or more: blank, sos/eos, unk and a letter", s.net.Vocab)
	return errors.Join(append(problems, s.net.Validate())...)
}

func (s settings) frames() int { return int(s.seconds * 100) }

func (s settings) letters() int { return max(1, int(s.seconds*s.tokens)) }

// options are those of the updates that are timed.
func (s settings) options() update.Options {
	return update.Options{
		BatchSize: s.batch, Half: s.half, Seed: 1, Rate: update.Schedule{Peak: 1e-3, Warmup: 1000}.Rate, WeightDecay: 1e-3, GradClip: 5,
	}
}

// ways are how the backward pass is made.
func (s settings) ways() []engine.Recompute {
	if s.recompute {
		return []engine.Recompute{engine.RecomputeBlocks}
	}
	return nil
}

func run(args []string, out io.Writer) error {
	s, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.workers > 0 {
		runtime.GOMAXPROCS(s.workers)
	}
	x, err := newSteps(s, madeUp(s.batch, s.frames(), s.letters(), s.net))
	if err != nil {
		return err
	}
	defer x.close()
	for range s.warmup {
		if _, err := x.step(); err != nil {
			return err
		}
	}
	r, err := measure(s, x)
	if err != nil {
		return err
	}
	if s.asJSON {
		err = json.NewEncoder(out).Encode(r)
	} else {
		_, err = fmt.Fprintln(out, r)
	}
	if err != nil || !s.profile {
		return err
	}
	limits := engine.MeasureLimits()
	if x.card != nil {
		if limits, err = engine.MeasureCardLimits(x.card, x.pool, s.half); err != nil {
			return err
		}
	}
	return x.replica.Profile().Write(out, limits)
}

// measure makes the steps that are timed.
func measure(s settings, x *steps) (*result, error) {
	if s.cpuProfile != "" {
		f, err := os.Create(s.cpuProfile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	if s.profile {
		x.replica.StartProfile()
	}
	r := &result{
		DModel: s.net.DModel, EncoderLayers: s.net.EncoderLayers, DecoderLayers: s.net.DecoderLayers, Batch: s.batch, Seconds: s.seconds,
		Tokens: s.letters(), Dropout: s.net.Dropout, Precision: "fp32", Parameters: model.Count(s.net).Total, Workers: x.replica.Wishes().Workers,
	}
	r.Device = x.pool.Name()
	switch {
	case s.half && x.card != nil:
		r.Precision = "fp16"
	case s.half:
		r.Precision = "fp32, activations stored as fp16"
	}
	launches := x.launches()
	cpu := cpuSeconds()
	for range s.steps {
		start := time.Now()
		var err error
		if r.Loss, err = x.step(); err != nil {
			return nil, err
		}
		r.Times = append(r.Times, time.Since(start).Seconds())
		r.Mean += r.Times[len(r.Times)-1] / float64(s.steps)
	}
	r.CPU = (cpuSeconds() - cpu) / float64(s.steps)
	r.Launches = (x.launches() - launches) / float64(s.steps)
	return r, r.finish(x)
}

// finish works out what follows from the times, and what the steps take.
func (r *result) finish(x *steps) error {
	sorted := slices.Sorted(slices.Values(r.Times))
	r.Min, r.Median = sorted[0], (sorted[len(sorted)/2]+sorted[(len(sorted)-1)/2])/2
	flops, err := x.updater.FLOPs(x.window)
	if err != nil {
		return err
	}
	r.GFLOP, r.GFLOPs = flops/1e9, flops/1e9/r.Median
	r.Audio = float64(r.Batch) * r.Seconds / r.Median
	r.Allocated = float64(x.replica.Usage().Total()) / (1 << 20)
	if x.card != nil {
		r.PeakOnCard = float64(x.pool.Usage().Peak) / (1 << 20)
	}
	r.PeakRSS, err = peakMiB()
	return err
}

// String is the result in one line.
func (r *result) String() string {
	if r.PeakOnCard > 0 {
		return fmt.Sprintf("%s, %s: median %.4f s, min %.4f s, CPU %.4f s, %.0f s of sound a second, %.1f GFLOP a step, "+
			"%.0f GFLOP/s, %.0f launches, peak %.0f MiB of the card, loss %.3f",
			r.Device, r.Precision, r.Median, r.Min, r.CPU, r.Audio, r.GFLOP, r.GFLOPs, r.Launches, r.PeakOnCard, r.Loss)
	}
	return fmt.Sprintf("%d workers: median %.3f s, min %.3f s, CPU %.3f s, %.0f s of sound a second, %.1f GFLOP a step, "+
		"%.0f GFLOP/s, peak %.0f MiB (%.0f MiB planned), loss %.3f",
		r.Workers, r.Median, r.Min, r.CPU, r.Audio, r.GFLOP, r.GFLOPs, r.PeakRSS, r.Allocated, r.Loss)
}

func cpuSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// peakMiB is the most memory this process has had resident. Linux keeps it in VmHWM; getrusage would inherit
// the peak of the process that started this one.
func peakMiB() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			return 0, err
		}
		return float64(u.Maxrss) / 1024, nil // kilobytes
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024, nil
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
