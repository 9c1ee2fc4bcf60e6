package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// infoConfig is the settings of info.
type infoConfig struct {
	JSON bool `yaml:"json" default:"false" check:"any" help:"print all of it as JSON"`
}

func infoCommand() command {
	return command{
		name: "info", args: "PATH", summary: "show a trained model or a run in a screenful: network, vocabulary, data, scores, how to use it",
		onStop: "stopping", run: runInfo,
	}
}

func infoHelp() (string, error) {
	o, err := newOptions("info", &infoConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(infoCommand()) + `
  konkanitrain info runs/first
  konkanitrain info runs/first/step-00000600
  konkanitrain info model.safetensors --json

PATH is a checkpoint_dir, of which the model is shown that eval and transcribe would take, a checkpoint's folder, or a
model's file. The files of a checkpoint are read as a whole and held to their checksums. What is known of the training
stands in the checkpoint: a model's file that was copied from it says what the model is, and not what it learned from.
` + o.usages(), nil
}

func runInfo(ctx context.Context, args []string, s streams) error {
	var c infoConfig
	o, err := newOptions("info", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	paths := o.flags.Args()
	if err := o.apply(func(p *settings.Problems) { infoRules(p, o, paths) }); err != nil {
		return err
	}
	r, err := aboutModel(paths[0], s.err)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.JSON {
		return writeJSON(s.out, r)
	}
	_, err = io.WriteString(s.out, r.text())
	return err
}

// infoRules are what the arguments have to agree with.
func infoRules(p *settings.Problems, o *options, paths []string) {
	switch {
	case len(paths) == 1:
		if _, err := os.Stat(paths[0]); err != nil {
			p.Add(fmt.Errorf("the model to show: %w", err))
		} else if checkpoint.PyTorch(paths[0]) {
			p.Add(fmt.Errorf("the model to show: %s: %w", paths[0], checkpoint.ErrPyTorch))
		}
	case len(o.unknown) == 0: // else one may be taken for a value
		p.Add(fmt.Errorf("%s are given: name the one to show, a checkpoint, a checkpoint_dir or a model's file", words.Count(len(paths), "model")))
	}
}

// aboutModel finds a model and what there is to say of it. Warnings go to log.
func aboutModel(path string, log io.Writer) (*about, error) {
	m, err := recognize.Open(path, log)
	if err != nil {
		return nil, err
	}
	d := m.Description
	a := &about{
		Asked: path, Model: m.Path, Update: d.Update, EMADecay: d.EMADecay, MeanOf: d.MeanOf, Network: d.Network, Parts: d.Parts(),
		Vocabulary: vocabularyOf(d), Features: featuresOf(d.Features), Texts: d.TextRules(), Phrases: d.Phrases, Score: d.Score, description: d,
	}
	for _, part := range a.Parts {
		a.Parameters += part.Parameters
	}
	if a.Odd, err = m.Odd(); err != nil {
		return nil, err
	}
	if err := a.addRun(m); err != nil {
		return nil, err
	}
	if err := a.addFiles(m); err != nil {
		return nil, err
	}
	a.Use = a.commands()
	return a, nil
}
