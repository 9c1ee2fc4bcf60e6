package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"konkanitrain/internal/settings"
)

// transcribeConfig is the settings of transcribe.
type transcribeConfig struct {
	trained `yaml:",inline"`
	machine `yaml:",inline"`
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
	if err := o.parse(args); err != nil {
		return err
	}
	files := o.flags.Args()
	err = o.apply(func(p *settings.Problems) {
		c.trained.rules(p)
		c.machine.rules(p)
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
	failed := 0
	err = model.Transcribe(ctx, files, func(path, text string, err error) error {
		if err == nil {
			_, err = fmt.Fprintf(s.out, "%s\t%s\n", path, text)
			return err
		}
		failed++
		if !strings.Contains(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(s.err, "konkanitrain: %v\n", err)
		return nil
	})
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d files could not be transcribed", failed, len(files))
	}
	return err
}
