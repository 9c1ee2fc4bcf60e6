package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/recognize/transcript"
	"konkanitrain/train"
)

// alignConfig is the settings of align.
type alignConfig struct {
	trained      `yaml:",inline"`
	Manifest     string   `yaml:"manifest" default:"" check:"path" help:"manifest of sounds and their texts"`
	Text         string   `yaml:"text" default:"" check:"path" help:"in place of a manifest: file with a line for each sound file that is given, in their order"`
	Format       string   `yaml:"format" default:"textgrid" check:"json|jsonl|srt|vtt|ctm|textgrid" help:"what is written: words and characters with times and confidences as JSON, subtitles, time-marked words of NIST, or TextGrids of Praat"`
	Output       string   `yaml:"output" default:"" check:"path" zero:"standard output" help:"folder to write into, a file for each recording, or for each utterance that is a part of one"`
	PathMap      []string `yaml:"path_map" default:"" check:"path map" help:"replace the start of the manifest's audio paths, FROM=TO; may be given several times"`
	SkipBadLines bool     `yaml:"skip_bad_lines" default:"false" check:"any" help:"leave out manifest lines that can't be parsed, instead of stopping"`
	BadLineLimit float64  `yaml:"bad_line_limit" default:"0" check:"share" zero:"0.05, but ten lines in any case" help:"share of unusable manifest lines above which nothing is aligned"`
	machine      `yaml:",inline"`
}

func alignCommand() command {
	return command{
		name: "align", args: "--checkpoint PATH --manifest FILE", summary: "find when the words of known texts are said",
		onStop: "stopping", run: runAlign,
	}
}

func alignHelp() (string, error) {
	o, err := newOptions("align", &alignConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(alignCommand()) + `
  konkanitrain align --checkpoint runs/first --manifest train.jsonl --output grids
  konkanitrain align --checkpoint runs/first --text texts.txt one.wav two.wav --format ctm

Times come from the likeliest path of CTC that writes the text (Viterbi): a network trained with CTC says a token late,
in one frame or two, so that starts are right to some frames and ends are early. A confidence is the probability that
the network gives to what the text says there, and no calibrated one: a word that was not said stands out. A recording
that can't be aligned is named on standard error and the others go on; the exit code is 1 then.
` + o.usages(), nil
}

func runAlign(ctx context.Context, args []string, s streams) error {
	var c alignConfig
	o, err := newOptions("align", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	files := o.flags.Args()
	if err := o.apply(func(p *settings.Problems) { c.rules(p, files) }); err != nil {
		return err
	}
	said, err := c.said(files)
	if err != nil {
		return err
	}
	model, err := o.open(c.trained, c.machine, s.err)
	if err != nil {
		return err
	}
	defer model.Close()
	out, err := newTranscripts(transcript.Format(c.Format), c.Output, "aligned", s)
	if err != nil {
		return o.usage(err)
	}
	if c.Manifest == "" {
		return out.end(model.Align(ctx, said, out.add))
	}
	report, err := model.AlignManifest(ctx, c.Manifest, recognize.EvaluateOptions{
		PathMap: c.PathMap, SkipBadLines: c.SkipBadLines, BadLineLimit: c.BadLineLimit, Progress: s.err,
	}, out.add)
	if err == nil && report.Lines > out.all {
		fmt.Fprintf(s.err, "%s of %s left out, see above\n", words.Count(report.Lines-out.all, "line"), c.Manifest)
	}
	return out.end(err)
}

// rules are what the settings have to agree with.
func (c *alignConfig) rules(p *settings.Problems, files []string) {
	c.trained.rules(p)
	c.machine.rules(p)
	p.Add(train.CheckPathMap(c.PathMap))
	switch {
	case c.Manifest != "" && (c.Text != "" || len(files) > 0):
		p.Add(errors.New("a manifest has texts and sounds: give it alone, or --text FILE and sound files"))
	case c.Manifest != "":
		p.Add(settings.About("manifest", needManifest("manifest", c.Manifest)))
	case len(files) == 0:
		p.Add(errors.New("nothing is given to align: give --manifest FILE, or --text FILE and sound files"))
	default:
		p.Add(needFile("text", c.Text, "FILE, with a line for each sound file"))
	}
	p.Add(noFolder(c.Output))
	if f := transcript.Format(c.Format); f.Single() && c.Output == "" && len(files) != 1 {
		p.Add(settings.Problemf("output", "output is not set, and a file of format %s is of one recording: give --output FOLDER", c.Format))
	}
}

// said are the sound files with the lines of the text file.
func (c *alignConfig) said(files []string) ([]recognize.Said, error) {
	if c.Manifest != "" {
		return nil, nil
	}
	f, err := os.Open(c.Text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var said []recognize.Said
	lines := 0
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", c.Text, err)
		}
		if line != "" {
			if lines++; !utf8.ValidString(line) {
				return nil, fmt.Errorf("%s: line %d is no UTF-8; save the file as UTF-8", c.Text, lines)
			}
			if lines <= len(files) {
				said = append(said, recognize.Said{Path: files[lines-1], Text: strings.TrimRight(line, "\r\n")})
			}
		}
		if err == io.EOF {
			break
		}
	}
	if lines != len(files) {
		return nil, fmt.Errorf("%s has %s, and %s given: want a line for each", c.Text, words.Count(lines, "line"), words.Count(len(files), "sound file"))
	}
	return said, nil
}
