package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"konkanitrain/data"
	memory "konkanitrain/internal/machine"
	"konkanitrain/internal/ngram"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
)

// lmConfig is the settings of lm.
type lmConfig struct {
	Output    string   `yaml:"output" default:"" check:"path" zero:"none is written" help:"ARPA file to write; compressed with gzip where its name ends in .gz"`
	Units     string   `yaml:"units" default:"words" check:"words|characters" help:"what texts are cut into"`
	Order     int      `yaml:"order" default:"0" check:"0..10" zero:"3 of words, 6 of characters" help:"the most units of an n-gram"`
	Prune     []int    `yaml:"prune" default:"" check:"0.." help:"leave out n-grams that were seen at most so many times, by order, as 0,0,1 for 3-grams and higher that were seen once; the last number is for all higher orders; none is 0"`
	HeldOut   []string `yaml:"held_out" default:"" check:"path" help:"texts to measure the perplexity on; may be given several times"`
	lmText    `yaml:",inline"`
	memoryCap `yaml:",inline"`
	JSON      bool `yaml:"json" default:"false" check:"any" help:"print the report as JSON"`
}

func lmCommand() command {
	return command{
		name: "lm", args: "TEXT... | score --lm FILE TEXT...", summary: "make a language model from texts, or score texts with one",
		onStop: "stopping", run: runLM,
	}
}

func lmHelp() (string, error) {
	o, err := newOptions("lm", &lmConfig{})
	if err != nil {
		return "", err
	}
	score, err := newOptions("lm", &lmScoreConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(lmCommand()) + `
  konkanitrain lm train.jsonl more.txt --held_out dev.jsonl --output lm.arpa.gz
  konkanitrain lm train.jsonl --units characters --checkpoint runs/first --output letters.arpa
  konkanitrain lm score --lm lm.arpa.gz dev.txt

A TEXT is a file with one sentence a line, a manifest, of which only the texts count, or - for standard input. Texts are
written as training writes them: by the settings below, or as those of a model that is named.

lm estimates n-grams by modified Kneser-Ney smoothing, as kenlm's lmplz does, and writes an ARPA file, which other
programs read too. Where the counts of an order give no discounts, as in small texts, they are 0.5, 1 and 1.5, as with
lmplz --discount_fallback. Perplexities count words (or characters) and the ends of sentences, those of unknown words
among them; beside it stands that of known words alone. The model is the same whatever the order of the sentences.

lm score prints a line for each sentence: log10 probability, words, unknown words, text, with tabs between; and at the
end, on standard error, the sums.
` + o.usages() + "\nof lm score:" + score.usages(), nil
}

func runLM(ctx context.Context, args []string, s streams) error {
	if len(args) > 0 && args[0] == "score" {
		return runLMScore(ctx, args[1:], s)
	}
	var c lmConfig
	o, err := newOptions("lm", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	texts := o.flags.Args()
	err = o.apply(func(p *settings.Problems) {
		c.lmText.rules(p, o)
		c.memoryCap.rules(p)
		needTexts(p, o, texts, c.HeldOut)
		switch {
		case c.Output == "":
		case c.Output == data.Stdin:
			p.Add(settings.Problemf("output", "output is -: give the name of a file; standard output has the report"))
		default:
			p.Add(makeable("output", c.Output))
		}
		p.Add(settings.About("units order prune", c.options().Validate()))
	})
	if err != nil {
		return err
	}
	in, err := c.reader(s.err)
	if err != nil {
		return err
	}
	m, report, err := c.estimate(ctx, texts, in)
	if err != nil {
		return err
	}
	r := lmReport{Texts: texts, Units: c.options().Unit, Order: m.Order(), Estimate: report, ModelBytes: m.Bytes(), Output: c.Output}
	for _, path := range c.HeldOut {
		held := lmHeldOut{Path: path}
		if err := in.read(ctx, path, func(text string) error {
			held.Add(m.Sentence(text, r.Units))
			return nil
		}); err != nil {
			return err
		}
		r.HeldOut = append(r.HeldOut, held)
	}
	if c.Output != "" {
		if err := writeLM(c.Output, m, r.comment()); err != nil {
			return err
		}
	}
	if c.JSON {
		return writeJSON(s.out, r)
	}
	_, err = io.WriteString(s.out, r.text())
	return err
}

// options are those of the estimate.
func (c *lmConfig) options() ngram.Options {
	o := ngram.Options{Unit: ngram.Unit(c.Units), Order: c.Order, Prune: c.Prune}
	switch {
	case c.Order == 0 && o.Unit == ngram.Characters:
		o.Order = 6
	case c.Order == 0:
		o.Order = 3
	}
	return o
}

// estimate makes a model of texts, within the memory there is beside what the program has.
func (c *lmConfig) estimate(ctx context.Context, texts []string, in lmReader) (*ngram.Model, *ngram.Report, error) {
	o := c.options()
	budget, why, err := c.memory().Budget()
	if err != nil {
		return nil, nil, err
	}
	if own, _ := memory.Self(); budget > 0 {
		if o.Limit = budget - own; o.Limit <= 0 {
			return nil, nil, fmt.Errorf("%s are allowed, and the program itself has %s: give it more (%s)", words.Bytes(budget), words.Bytes(own), why)
		}
		debug.SetMemoryLimit(o.Limit) // near to it the collector works harder
	}
	counter, err := ngram.NewCounter(o)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range texts {
		if err := in.read(ctx, path, counter.Add); err != nil {
			return nil, nil, err
		}
	}
	return counter.Estimate()
}
