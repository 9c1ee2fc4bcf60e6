// Command step times training steps on made-up utterances: forward, loss, backward, clip and AdamW, with the
// keys and options of the PyTorch reference's own benchmark, so that the two can be run in turn.
//
//	go run ./bench/step --d_model 192 --encoder_layers 8 --decoder_layers 4 --batch 2 --seconds 8
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/update"
)

func main() {
	if err := run(); err != nil {
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
}

func run() error {
	net := model.Config{ConvKernel: 31, SubsampleChannels: 64, NumMels: 80, CTCWeight: 0.3, LabelSmoothing: 0.1}
	f := pflag.NewFlagSet("step", pflag.ContinueOnError)
	f.IntVar(&net.DModel, "d_model", 192, "width")
	f.IntVar(&net.Heads, "heads", 4, "attention heads")
	f.IntVar(&net.EncoderLayers, "encoder_layers", 8, "Conformer blocks")
	f.IntVar(&net.DecoderLayers, "decoder_layers", 4, "decoder layers")
	f.IntVar(&net.Vocab, "vocab", 100, "vocabulary size")
	f.IntVar(&net.Subsampling, "factor", 4, "subsampling")
	f.Float64Var(&net.Dropout, "dropout", 0.1, "dropout")
	batch := f.Int("batch", 2, "utterances")
	seconds := f.Float64("seconds", 8, "of sound in each, at 100 frames a second")
	tokens := f.Float64("tokens_per_second", 10, "target tokens")
	workers := f.Int("threads", 0, "compute workers; 0: one for each core")
	steps := f.Int("steps", 10, "steps to time")
	warmup := f.Int("warmup_steps", 2, "steps before")
	half := f.Bool("fp16", false, "store saved activations in half precision")
	recompute := f.Bool("recompute", false, "compute activations again for the backward pass")
	asJSON := f.Bool("json", false, "print one JSON line")
	profile := f.Bool("profile", false, "print the time by operation")
	cpuProfile := f.String("cpu_profile", "", "write a pprof profile here")
	if err := f.Parse(os.Args[1:]); err != nil {
		return err
	}
	if *workers > 0 {
		runtime.GOMAXPROCS(*workers)
	}
	letters := max(1, int(*seconds**tokens))
	o := update.Options{
		BatchSize: *batch, Half: *half, Seed: 1, LearningRate: 1e-3, Warmup: 1000, WeightDecay: 1e-3, GradClip: 5,
	}
	if *recompute {
		o.Recompute = engine.RecomputeBlocks
	}
	s, err := newSteps(net, o, *workers, madeUp(*batch, int(*seconds*100), letters, net))
	if err != nil {
		return err
	}
	defer s.replica.Close()
	for range *warmup {
		if _, err := s.step(); err != nil {
			return err
		}
	}
	if *cpuProfile != "" {
		out, err := os.Create(*cpuProfile)
		if err != nil {
			return err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if *profile {
		s.replica.StartProfile()
		defer func() { _ = s.replica.Profile().Write(os.Stdout, engine.MeasureLimits()) }()
	}
	r := result{
		DModel: net.DModel, EncoderLayers: net.EncoderLayers, DecoderLayers: net.DecoderLayers, Batch: *batch, Seconds: *seconds,
		Tokens: letters, Dropout: net.Dropout, Precision: "fp32", Parameters: model.Count(net).Total, Workers: s.replica.Wishes().Workers,
	}
	if *half {
		r.Precision = "fp32, activations stored as fp16"
	}
	cpu := cpuSeconds()
	for range *steps {
		start := time.Now()
		if r.Loss, err = s.step(); err != nil {
			return err
		}
		r.Times = append(r.Times, time.Since(start).Seconds())
		r.Mean += r.Times[len(r.Times)-1] / float64(*steps)
	}
	r.CPU = (cpuSeconds() - cpu) / float64(*steps)
	sorted := slices.Sorted(slices.Values(r.Times))
	r.Min, r.Median = sorted[0], (sorted[len(sorted)/2]+sorted[(len(sorted)-1)/2])/2
	flops, err := s.updater.FLOPs(s.window)
	if err != nil {
		return err
	}
	r.GFLOP, r.GFLOPs = flops/1e9, flops/1e9/r.Median
	r.Audio = float64(*batch) * *seconds / r.Median
	r.Allocated = float64(s.replica.Usage().Total()) / (1 << 20)
	if r.PeakRSS, err = peakMiB(); err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	fmt.Printf("%d workers: median %.3f s, min %.3f s, CPU %.3f s, %.0f s of sound a second, %.1f GFLOP a step, %.0f GFLOP/s, peak %.0f MiB (%.0f MiB planned), loss %.3f\n",
		r.Workers, r.Median, r.Min, r.CPU, r.Audio, r.GFLOP, r.GFLOPs, r.PeakRSS, r.Allocated, r.Loss)
	return nil
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
