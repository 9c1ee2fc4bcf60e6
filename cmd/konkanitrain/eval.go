package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"konkanitrain/data"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// evalConfig is the settings of eval.
type evalConfig struct {
	trained      `yaml:",inline"`
	Manifest     []string `yaml:"manifest" default:"" check:"path" help:"manifest to score on; may be given several times"`
	PerUtterance string   `yaml:"per_utterance" default:"" check:"path" help:"file for one line of tab-separated values for each utterance; - for standard output"`
	JSON         bool     `yaml:"json" default:"false" check:"any" help:"print the result as JSON"`
	PathMap      []string `yaml:"path_map" default:"" check:"path map" help:"replace the start of audio paths, FROM=TO; may be given several times"`
	SkipBadLines bool     `yaml:"skip_bad_lines" default:"false" check:"any" help:"leave out manifest lines that can't be parsed, instead of stopping"`
	BadLineLimit float64  `yaml:"bad_line_limit" default:"0" check:"share" zero:"0.05, but ten lines in any case" help:"share of unusable manifest lines above which nothing is scored"`
	decoding     `yaml:",inline"`
	reporting    `yaml:",inline"`
	tuning       `yaml:",inline"`
	machine      `yaml:",inline"`
}

func evalCommand() command {
	return command{
		name: "eval", args: "--checkpoint PATH --manifest FILE", summary: "score a model on a manifest: word and character error rates",
		onStop: "stopping", run: runEval,
	}
}

func evalHelp() (string, error) {
	o, err := newOptions("eval", &evalConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(evalCommand()) + `
Texts of the manifest are written by the policy that is stored with the model, and every utterance is scored that has a
text and whose sound can be read; the others are counted with the reasons, and with --json listed. Of a text that is
empty ("") all recognized words are errors. Rates are errors of all utterances over words (characters) of all
references. Characters are code points, spaces included. The exit code is 0 whatever is left out, unless that is more
than bad_line_limit or everything: then it is 1.
With the rates come their 95 % confidence intervals, by the bootstrap: as many utterances as there are get drawn with
replacement, time and again (Bisani and Ney, ICASSP 2004). Utterances are drawn alone, so where those of a speaker have
errors in common the true intervals are wider. --against compares two models on the same utterances, in pairs: the
interval of the difference comes from resamples of pairs, and p, how often models that are alike would differ as much,
from letting a coin say for each pair which result is whose (approximate randomization, Noreen 1989).
Characters that are confused, and aligned, are those that readers see (grapheme clusters): a letter with its signs.
--tune looks for the weights of --decoder beam, joint or rescore on a validation set: the network is asked once, and
searched with the weights that are given, those of a coarse grid, and ever nearer neighbors of the best. The best has
the fewest wrong words, and of equal ones the fewest wrong characters. --save_decoding writes what was found, with the calibration of
confidences (Platt scaling: two numbers), for --decoding.
Progress goes to standard error, the result to standard output (to standard error where a file is -).
` + o.usages(), nil
}

func runEval(ctx context.Context, args []string, s streams) error {
	var c evalConfig
	o, err := newOptions("eval", &c)
	if err != nil {
		return err
	}
	file, err := o.addDecodingFile()
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	o.noArguments()
	if err := o.applyOver(file, c.rules); err != nil {
		return err
	}
	d, err := c.decoding.decoding()
	if err != nil {
		return err
	}
	if c.Tune {
		return c.runTune(ctx, o, d, s)
	}
	if d.Units = c.wantsWords(); c.SaveDecoding != "" {
		d.Calibration = recognize.Unchanged() // it is made anew
	}
	var before *evalResult
	if isAlignments(c.Against) {
		if before, err = readAlignments(c.Against); err != nil {
			return fmt.Errorf("against: %w", err)
		}
	}
	model, err := c.load(o, c.trained, d, s.err)
	if err != nil {
		return err
	}
	defer model.Close()
	calibrated := model.Calibration() != nil
	r, err := c.score(ctx, model, c.sinks(s.out), s.err)
	if err != nil {
		return err
	}
	var against error // what was scored is told all the same
	switch {
	case before != nil:
		against = r.compareWith(before)
	case c.Against != "":
		model.Close() // there may be no room for two
		against = c.compare(ctx, o, r, d, s.err)
	}
	out := s.out
	if c.toOutput() > 0 {
		out = s.err
	}
	if c.JSON {
		return errors.Join(writeJSON(out, r.record()), against)
	}
	if _, err = io.WriteString(out, r.text()); err != nil || !c.wantsWords() {
		return errors.Join(err, against)
	}
	return errors.Join(c.concludes(&r.judge, d, calibrated, streams{out, s.err}), against)
}

// rules are what the settings have to agree with, on disk and on this machine.
func (c *evalConfig) rules(p *settings.Problems) {
	c.trained.rules(p)
	if len(c.Manifest) == 0 {
		p.Add(needManifest("manifest", ""))
	}
	for _, path := range c.Manifest {
		list, err := data.ParseManifests([]string{path})
		switch {
		case err == nil && len(list) == 1 && list[0].Path != path:
			err = fmt.Errorf("manifest: %s: a weight is for training, and eval scores each utterance once: give %s", path, list[0].Path)
		case err == nil:
			err = needManifest("manifest", path)
		}
		p.Add(settings.About("manifest", err))
	}
	c.reportRules(p)
	p.Add(train.CheckPathMap(c.PathMap))
	c.decoding.rules(p, 0)
	c.tuneRules(p)
	c.machine.rules(p)
}
