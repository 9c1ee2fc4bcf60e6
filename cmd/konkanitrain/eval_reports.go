package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"konkanitrain/internal/scores"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// reporting is the settings of what eval tells beside the rates.
type reporting struct {
	Alignments []string `yaml:"alignments" default:"" check:"path" help:"file for each reference over what was recognized: for reading, or as JSON lines where its name ends in .jsonl; - for standard output; may be given several times"`
	By         []string `yaml:"by" default:"" check:"words" help:"rates of parts of the set: by length (seconds of sound), by speaker, or by the values of a key of the manifest; may be given several times"`
	Worst      int      `yaml:"worst" default:"3" check:"0..10000" zero:"none" help:"how many of the worst utterances are shown: those with the highest error rates of characters"`
	Against    string   `yaml:"against" default:"" check:"path" help:"another model, given as checkpoint is, to compare with on the same utterances; or what an earlier eval has written as --alignments FILE.jsonl, of a model that was asked in another way"`
	Resamples  int      `yaml:"resamples" default:"2000" check:"0..1000000" zero:"no intervals" help:"draws for confidence intervals and comparisons"`
	Seed       uint64   `yaml:"seed" default:"1" check:"any" help:"seed of these draws"`
}

// reportRules are what the settings of outputs have to agree with.
func (c *evalConfig) reportRules(p *settings.Problems) {
	if c.PerUtterance != "" {
		p.Add(settings.About("per_utterance", newTable(c.PerUtterance, nil).free()))
		p.Add(creatable("per_utterance", c.PerUtterance))
	}
	for i, path := range c.Alignments {
		p.Add(settings.About("alignments", newAlignments(path, nil, nil).free()))
		p.Add(creatable("alignments", path))
		p.Require(path != "", "alignments", "alignments: the name of a file is empty")
		p.Require(!slices.Contains(c.Alignments[:i], path) && (path != c.PerUtterance || path == "-"), "alignments", "alignments: %s is given twice", path)
	}
	for i, key := range c.By {
		p.Require(!slices.Contains(c.By[:i], key), "by", "by: %s is given twice", key)
	}
	p.Require(c.toOutput() < 2, "alignments per_utterance", "alignments and per_utterance: only one can go to standard output")
	if c.Against != "" {
		p.Add(needFile("against", c.Against, "PATH"))
		p.Add(notPyTorch("against", c.Against))
		p.Require(c.Resamples > 0, "against resamples", "against compares by draws, and resamples is 0: leave resamples out")
	}
}

// toOutput is how many outputs beside the result go to standard output.
func (c *evalConfig) toOutput() int {
	n := 0
	for _, path := range append([]string{c.PerUtterance}, c.Alignments...) {
		if path == "-" {
			n++
		}
	}
	return n
}

// keys are those of the manifest in by.
func (r *reporting) keys() (keys []string) {
	for _, key := range r.By {
		if key != scores.ByLength && key != scores.BySpeaker {
			keys = append(keys, key)
		}
	}
	return keys
}

// values are what an utterance has for each key in by, as scores.Collector wants them.
func (r *reporting) values(all []string) []string {
	values := make([]string, len(r.By))
	k := 0
	for i, key := range r.By {
		if key == scores.ByLength || key == scores.BySpeaker {
			continue
		}
		if k < len(all) {
			values[i] = all[k]
		}
		k++
	}
	return values
}

// sink is an output that has all utterances.
type sink interface {
	add(recognize.Hypothesis) error
	leftOut(leftOut) error
	end(error) error
}

// sinks are the outputs that are asked for.
func (c *evalConfig) sinks(out io.Writer) (list []sink) {
	if c.PerUtterance != "" {
		list = append(list, newTable(c.PerUtterance, out))
	}
	for _, path := range c.Alignments {
		list = append(list, newAlignments(path, c.keys(), out))
	}
	return list
}

// load opens a model that decodes in a way.
func (c *evalConfig) load(o *options, which trained, d recognize.Decoding, log io.Writer) (*recognize.Model, error) {
	model, err := o.open(which, c.machine, log)
	if err != nil {
		return nil, err
	}
	if err := model.SetDecoding(d); err != nil {
		model.Close()
		return nil, err
	}
	return model, nil
}

// scoring is how manifests are scored.
func (c *evalConfig) scoring(progress io.Writer) recognize.EvaluateOptions {
	return recognize.EvaluateOptions{
		PathMap: c.PathMap, SkipBadLines: c.SkipBadLines, BadLineLimit: c.BadLineLimit, Keys: c.keys(), Progress: progress,
	}
}

// score scores a model and writes what the sinks want.
func (c *evalConfig) score(ctx context.Context, model *recognize.Model, sinks []sink, progress io.Writer) (*evalResult, error) {
	collector := scores.NewCollector(scores.Options{
		By: c.By, Worst: c.Worst, Sampling: scores.Sampling{Resamples: c.Resamples, Seed: c.Seed},
	})
	r, how := &evalResult{model: model.String()}, c.scoring(progress)
	how.PerUtterance = func(h recognize.Hypothesis) error {
		if h.Err == nil {
			collector.Add(h.Scored(), c.values(h.Utt.Values))
		}
		r.judge.Add(h)
		return each(sinks, func(s sink) error { return s.add(h) })
	}
	e, report, err := model.EvaluateAll(ctx, c.Manifest, how)
	r.scored = e
	if err == nil {
		r.manifest, r.audit, r.leftOut = report.Path, report, leftOutOf(r.model, report, e.Score.Utterances)
		err = each(sinks, func(s sink) error { return s.leftOut(r.leftOut) })
	}
	for _, s := range sinks {
		err = s.end(err)
	}
	if err != nil {
		return nil, err
	}
	r.report = collector.Report()
	return r, nil
}

// each does something with all sinks.
func each(sinks []sink, do func(sink) error) error {
	for _, s := range sinks {
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// compare compares the model that was scored with another, which it scores too.
func (c *evalConfig) compare(ctx context.Context, o *options, r *evalResult, d recognize.Decoding, progress io.Writer) error {
	other, err := c.load(o, trained{c.Against}, d, progress)
	if err != nil {
		return fmt.Errorf("against: %w", err)
	}
	defer other.Close()
	alone := *c
	alone.By, alone.Worst = nil, 0
	than, err := alone.score(ctx, other, nil, progress)
	if err != nil {
		return fmt.Errorf("against: %w", err)
	}
	return r.compareWith(than)
}

// compareWith compares with another result.
func (r *evalResult) compareWith(than *evalResult) error {
	c := r.report.Against(than.report)
	if c.Utterances == 0 {
		return errors.New("against: there is no utterance that both have scored: are these the same manifests?")
	}
	r.against, r.comparison = than, c
	return nil
}
