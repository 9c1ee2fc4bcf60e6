package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"konkanitrain/internal/optest"
	"konkanitrain/model"
)

// shipped are the networks of all presets of the repository, with a vocabulary of 40.
func shipped(t *testing.T) map[string]model.Config {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "configs", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d presets, %v", len(files), err)
	}
	all := map[string]model.Config{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := struct {
			DModel            int     `yaml:"d_model"`
			Heads             int     `yaml:"heads"`
			EncoderLayers     int     `yaml:"encoder_layers"`
			DecoderLayers     int     `yaml:"decoder_layers"`
			ConvKernel        int     `yaml:"conv_kernel"`
			Subsampling       int     `yaml:"subsampling"`
			SubsampleChannels int     `yaml:"subsample_channels"`
			NumMels           int     `yaml:"num_mels"`
			Dropout           float64 `yaml:"dropout"`
		}{ConvKernel: 31, Subsampling: 4, SubsampleChannels: 64, NumMels: 80, Dropout: 0.1} // the program's own defaults
		if err := yaml.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = model.Config{
			DModel: s.DModel, Heads: s.Heads, EncoderLayers: s.EncoderLayers, DecoderLayers: s.DecoderLayers, ConvKernel: s.ConvKernel,
			Subsampling: s.Subsampling, SubsampleChannels: s.SubsampleChannels, NumMels: s.NumMels, Vocab: 40, Dropout: s.Dropout,
			CTCWeight: 0.3, LabelSmoothing: 0.1,
		}
	}
	return all
}

// Every op that a preset's program runs, for any purpose, and every op that a crew runs on flat buffers, has a case in
// package optest, which holds its kernels to its specification.
func TestEveryOpInUseHasACase(t *testing.T) {
	t.Parallel()
	used := map[string]string{} // op -> who uses it
	for preset, c := range shipped(t) {
		specs := map[model.Purpose]Spec{}
		for _, mode := range modes {
			spec, built := specs[mode.purpose]
			if !built {
				spec, _ = networkSpec(t, c, model.Shape{Batch: 2, Frames: 300, Tokens: 20}, mode.purpose)
				specs[mode.purpose] = spec
			}
			spec.Half, spec.Recompute = mode.half, mode.recompute
			p, err := Compile(spec)
			if err != nil {
				t.Fatalf("%s, %s: %v", preset, mode.name, err)
			}
			for _, s := range p.Steps {
				used[s.Op.Name] = preset + ", " + mode.name
			}
		}
	}
	c := flatCrew(t, several, 2)
	setGradients(c, 0, 1)
	setGradients(c, 1, 2)
	if _, err := c.Reduce(); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(AdamW{Number: 1, GradScale: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finite(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mean(1, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for key := range c.kernels {
		used[key.name] = "crews"
	}
	for _, name := range strings.Fields("attention.relative ctc.grad half.load accumulate reduce adamw finite mean.add mean.end") {
		if used[name] == "" {
			t.Errorf("%s is used by nobody: this test has lost its point", name)
		}
	}
	covered := optest.Covered()
	for name, who := range used {
		if !covered[name] {
			t.Errorf("%s, which %s uses, has no case in package optest", name, who)
		}
	}
}
