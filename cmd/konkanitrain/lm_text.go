package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// lmText is the settings of how texts for a language model are written.
type lmText struct {
	Checkpoint       string `yaml:"checkpoint" default:"" alias:"model" check:"path" help:"write texts as they were written for this model: a checkpoint's folder, a model.safetensors, or a checkpoint_dir"`
	train.TextConfig `yaml:",inline"`
}

// rules are what these settings have to agree with.
func (c *lmText) rules(p *settings.Problems, o *options) {
	if c.AllowedCharacters != "" {
		p.Add(settings.About("allowed_characters", text.ParseCharacters(c.AllowedCharacters)))
	}
	if c.Checkpoint == "" {
		return
	}
	p.Add(needFile("checkpoint", c.Checkpoint, "PATH"))
	p.Add(notPyTorch("checkpoint", c.Checkpoint))
	set, err := settings.Of(&train.TextConfig{})
	if err != nil {
		p.Add(err)
		return
	}
	for _, x := range set.All {
		if o.flags.Changed(x.Key) {
			p.Add(settings.Problemf(x.Key, "%s and checkpoint both say how texts are written: leave out one of the two", x.Key))
		}
	}
}

// reader reads texts as these settings have them written.
func (c *lmText) reader(log io.Writer) (lmReader, error) {
	r := lmReader{policy: c.Policy(), log: log}
	if c.Checkpoint == "" {
		return r, nil
	}
	d, err := recognize.Find(c.Checkpoint, log)
	if err == nil {
		r.policy = d.Policy
	}
	return r, err
}

// needTexts adds the problems with the texts that are named.
func needTexts(p *settings.Problems, o *options, texts []string, heldOut []string) {
	if len(texts) == 0 && len(o.unknown) == 0 { // else one may be taken for a value
		p.Add(errors.New("no text is given: name files, manifests, or - for standard input, behind the flags"))
	}
	all := slices.Concat(texts, heldOut)
	stdin := 0
	for i, path := range all {
		key := "text"
		if i >= len(texts) {
			key = "held_out"
		}
		if path == data.Stdin {
			if stdin++; stdin == 2 {
				p.Add(errors.New("- is standard input, which can be read once only"))
			}
			continue
		}
		is, err := data.Pattern(path)
		if !is && err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			p.Add(settings.Problemf(key, "%s: %w", key, err))
		}
	}
}

// lmReader reads texts.
type lmReader struct {
	policy text.Policy
	log    io.Writer
}

// read gives each sentence to take, and says what was odd.
func (r lmReader) read(ctx context.Context, path string, take func(string) error) error {
	report, err := data.Sentences(ctx, path, os.Stdin, r.policy, take)
	if err != nil {
		return err
	}
	if odd := report.String(); odd != "" {
		_, err = fmt.Fprintln(r.log, odd)
	}
	return err
}
