package main

import (
	"bufio"
	"context"
	"fmt"

	"konkanitrain/internal/ngram"
	"konkanitrain/internal/settings"
)

// lmScoreConfig is the settings of lm score.
type lmScoreConfig struct {
	LM     string `yaml:"lm" default:"" check:"path" help:"language model: an ARPA file, or one that is compressed with gzip"`
	lmText `yaml:",inline"`
}

func runLMScore(ctx context.Context, args []string, s streams) error {
	var c lmScoreConfig
	o, err := newOptions("lm", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	texts := o.flags.Args()
	err = o.apply(func(p *settings.Problems) {
		p.Add(needFile("lm", c.LM, "FILE, an ARPA file"))
		c.lmText.rules(p, o)
		needTexts(p, o, texts, nil)
	})
	if err != nil {
		return err
	}
	in, err := c.reader(s.err)
	if err != nil {
		return err
	}
	m, warnings, err := ngram.Read(c.LM)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(s.err, "WARNING:", w)
	}
	var sum ngram.Scored
	unit, out := m.Unit(), bufio.NewWriter(s.out)
	for _, path := range texts {
		err := in.read(ctx, path, func(text string) error {
			one := m.Sentence(text, unit)
			sum.Add(one)
			_, err := fmt.Fprintf(out, "%.6f\t%d\t%d\t%s\n", one.Log10(), one.Words, one.Unknown, text)
			return err
		})
		if err != nil {
			out.Flush() // what was scored before
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.err, "%s: log10 probability %.4f, %s\n", c.LM, sum.Log10(), scoredText(sum, unit.Noun()))
	return err
}
