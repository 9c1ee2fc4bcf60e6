package main

import (
	"context"
	"errors"

	"konkanitrain/internal/settings"
	"konkanitrain/recognize/transcript"
)

// transcribeConfig is the settings of transcribe.
type transcribeConfig struct {
	trained  `yaml:",inline"`
	Format   string `yaml:"format" default:"text" check:"text|json|jsonl|srt|vtt|ctm|textgrid" help:"what is printed: path and text, a line for each file; or words with times and confidences as JSON, subtitles, time-marked words of NIST, or a TextGrid of Praat"`
	Output   string `yaml:"output" default:"" check:"path" zero:"standard output" help:"folder to write into, a file for each sound file"`
	NBest    int    `yaml:"nbest" default:"0" check:"0..1000" zero:"none" help:"hypotheses to print for each file, the best first, of a beam search; with format json or jsonl"`
	decoding `yaml:",inline"`
	machine  `yaml:",inline"`
}

func transcribeCommand() command {
	return command{
		name: "transcribe", args: "--checkpoint PATH FILE...", summary: "write down what is said in sound files",
		onStop: "stopping", run: runTranscribe,
	}
}

func transcribeHelp() (string, error) {
	o, err := newOptions("transcribe", &transcribeConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(transcribeCommand()) + `
Prints path, tab, text for each file, in order, as soon as it and those before it are done. A file that can't be read
is named on standard error and the others go on; the exit code is 1 then. Each file is recognized in one piece, in a
time that grows with the square of its length: cut long recordings at their pauses.
` + o.usages(), nil
}

func runTranscribe(ctx context.Context, args []string, s streams) error {
	var c transcribeConfig
	o, err := newOptions("transcribe", &c)
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
	files := o.flags.Args()
	err = o.applyOver(file, func(p *settings.Problems) {
		c.trained.rules(p)
		c.machine.rules(p)
		c.decoding.rules(p, c.NBest)
		format := transcript.Format(c.Format)
		if format.Single() && len(files) > 1 && c.Output == "" {
			p.Add(settings.Problemf("output", "output is not set, and a file of format %s is of one sound file: give --output FOLDER", c.Format))
		}
		if c.NBest > 0 && format != transcript.JSON && format != transcript.JSONL {
			p.Add(settings.Problemf("nbest", "nbest is %d, and format %s has no place for hypotheses: want format json or jsonl", c.NBest, c.Format))
		}
		if len(files) == 0 && len(o.unknown) == 0 { // else one may be taken for a value
			p.Add(errors.New("no sound file is given: name one or more behind the flags"))
		}
	})
	if err != nil {
		return err
	}
	model, err := o.open(c.trained, c.machine, s.err)
	if err != nil {
		return err
	}
	defer model.Close()
	format := transcript.Format(c.Format)
	d, err := c.decoding.decoding()
	if err != nil {
		return err
	}
	d.NBest, d.Units = c.NBest, format.Units()
	if err := model.SetDecoding(d); err != nil {
		return err
	}
	out, err := newTranscripts(format, c.Output, "transcribed", s)
	if err != nil {
		return err
	}
	return out.end(model.Transcribe(ctx, files, out.add))
}
