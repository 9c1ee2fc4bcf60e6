package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/export"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// exportConfig is the settings of export.
type exportConfig struct {
	Format   string `yaml:"format" default:"onnx" check:"onnx|sherpa-onnx|safetensors" help:"what to write: onnx, a graph for onnxruntime and others; sherpa-onnx, the same, refused where sherpa-onnx would hear something else than the model learned; safetensors, tensors with a Python file that loads them in PyTorch"`
	Output   string `yaml:"output" default:"" check:"path" help:"folder to write; it must not be there yet"`
	Force    bool   `yaml:"force" default:"false" check:"any" help:"replace an export that is in output already"`
	Features string `yaml:"features" default:"out" check:"out|in" help:"of onnx: whether the graph computes the features itself (in: it takes samples) or is given them (out)"`
	Weights  string `yaml:"weights" default:"float32" check:"float32|float16|int8" help:"of onnx: how weights are stored; all is computed as float32"`
	License  string `yaml:"license" default:"" check:"any" zero:"said to be unknown" help:"the model's license, for its card, such as cc-by-4.0"`
	Language string `yaml:"language" default:"kok" check:"any" help:"the model's language, for its card: a code of ISO 639"`
	JSON     bool   `yaml:"json" default:"false" check:"any" help:"print the report as JSON"`
}

func exportCommand() command {
	return command{
		name: "export", args: "PATH --output DIR", summary: "write a trained model for other programs: ONNX, sherpa-onnx, PyTorch",
		onStop: "stopping", run: runExport,
	}
}

func exportHelp() (string, error) {
	o, err := newOptions("export", &exportConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(exportCommand()) + `
  konkanitrain export runs/first --output first-onnx --license cc-by-4.0
  konkanitrain export runs/first --format sherpa-onnx --weights int8 --output first-sherpa
  konkanitrain export runs/first --format safetensors --output first-torch

PATH is a checkpoint's folder (step-...), a model.safetensors alone, or a checkpoint_dir: its averaged weights, else its
best checkpoint, else its newest. The folder that is written is whole or not there; it has a README.md, the model's card.

onnx and sherpa-onnx write model.onnx, the encoder with the CTC head for batches of any size and length, and tokens.txt.
What differs in sherpa-onnx is said; a model is trained for it with --high_hz -400.
` + o.usages(), nil
}

func runExport(ctx context.Context, args []string, s streams) error {
	var c exportConfig
	o, err := newOptions("export", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	paths := o.flags.Args()
	err = o.apply(func(p *settings.Problems) { c.rules(p, o, paths) })
	if err != nil {
		return err
	}
	m, err := recognize.Open(paths[0], s.err)
	if err != nil {
		return err
	}
	options := c.options()
	if options.Training, err = trainingOf(paths[0], m); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, err := export.Write(m, c.Output, options)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(s.out, r)
	}
	_, err = io.WriteString(s.out, exportText(r, c.Weights))
	return err
}

// rules are what the settings have to agree with.
func (c *exportConfig) rules(p *settings.Problems, o *options, paths []string) {
	switch {
	case len(paths) == 1:
		if _, err := os.Stat(paths[0]); err != nil {
			p.Add(fmt.Errorf("the model to export: %w", err))
		} else if checkpoint.PyTorch(paths[0]) {
			p.Add(fmt.Errorf("the model to export: %s: %w", paths[0], checkpoint.ErrPyTorch))
		}
	case len(o.unknown) == 0: // else one may be taken for a value
		p.Add(fmt.Errorf("%s are given: name the one to export, a checkpoint or a checkpoint_dir", words.Count(len(paths), "model")))
	}
	switch {
	case c.Output == "":
		p.Add(settings.Problemf("output", "output is not set: give --output DIR, a folder that is not there yet"))
	default:
		if err := export.Check(c.Output, c.Force); err != nil {
			p.Add(settings.Problemf("output", "output: %w", err))
		} else {
			p.Add(writable("output", filepath.Dir(filepath.Clean(c.Output))))
		}
	}
	p.Require(c.Format != string(export.Safetensors) || c.Features == string(export.Out), "features format",
		"features is in, and format safetensors has no graph: conformer.py computes features")
	p.Require(c.Format != string(export.Safetensors) || c.Weights == "float32", "weights format",
		"weights is %s, and format safetensors has float32 alone", c.Weights)
	p.Require(c.Format != string(export.Sherpa) || c.Features == string(export.Out), "features format",
		"features is in, and sherpa-onnx computes features itself: leave features out")
}

func (c *exportConfig) options() export.Options {
	return export.Options{
		Format: export.Format(c.Format), Features: export.Place(c.Features), Weights: export.Form(c.Weights),
		License: c.License, Language: c.Language, Version: programVersion(), Force: c.Force,
	}
}

// trainingOf is what is known of a model's training, for its card. The score of the test set is that of the model that
// a run came to in the end.
func trainingOf(asked string, m *recognize.Stored) (t export.Training, err error) {
	a := &about{Asked: asked}
	if err := a.addRun(m); err != nil || a.Training == nil {
		return t, err
	}
	h := a.Training
	t = export.Training{Train: h.Train, Validate: h.Validate, Test: h.Test, Utterances: h.Size, Seconds: h.Sound, Epochs: h.Epochs, Settings: h.Settings}
	if n := len(a.Scores); n > 0 && a.Kind == aRun && a.Scores[n-1].Event == "test" {
		t.Tested = &export.Rates{WER: a.Scores[n-1].WER, CER: a.Scores[n-1].CER}
	}
	return t, nil
}

// exportText is the report for people.
func exportText(r *export.Report, weights string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "exported %s\n%s: %s, %s\n", r.Model, r.Path, strings.Join(r.Files, ", "), words.Bytes(r.Bytes))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "WARNING: %s\n", w)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "NOTE: %s\n", n)
	}
	if r.Slot != nil && len(r.Warnings) == 0 {
		fmt.Fprintf(&b, "sherpa-onnx loads it as %s (OfflineRecognizer.%s in Python) and transcribes as konkanitrain does with --decoder greedy\n", r.Slot.Name, r.Slot.Method)
	}
	return b.String()
}
