package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"konkanitrain/train"
)

// transcribeConfig is the settings of transcribe.
type transcribeConfig struct {
	Checkpoint string `yaml:"checkpoint" help:"a checkpoint's folder (step-...), or a checkpoint_dir: its averaged weights, else its best checkpoint, else its newest"`
	Device     string `yaml:"device" help:"auto, cpu or cuda"`
	CPUWorkers int    `yaml:"cpu_workers" help:"compute workers on a CPU; 0: one for each core"`
}

func transcribeCommand() command {
	return command{
		name: "transcribe", args: "--checkpoint PATH WAV...", summary: "write down what is said in WAV files",
		onStop: "stopping", run: runTranscribe,
	}
}

func transcribeHelp() (string, error) {
	o, err := newOptions("transcribe", &transcribeConfig{Device: "auto"}, nil)
	if err != nil {
		return "", err
	}
	return usageLine(transcribeCommand()) + `
Prints path, tab, text for each file, in order. A file that can't be read is named on standard error and the others
go on; the exit code is 1 then.
` + o.usages(), nil
}

func runTranscribe(ctx context.Context, args []string, s streams) error {
	c := transcribeConfig{Device: "auto"}
	o, err := newOptions("transcribe", &c, nil)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	files := o.flags.Args()
	problems := []error{o.set.Apply(), needFolder("checkpoint", c.Checkpoint), checkDevice(c.Device, c.CPUWorkers)}
	if len(files) == 0 {
		problems = append(problems, errors.New("no WAV file is given: name one or more behind the flags"))
	}
	if err := errors.Join(problems...); err != nil {
		return o.usage(err)
	}
	model, err := train.Load(c.Checkpoint, train.LoadOptions{Device: c.Device, Workers: c.CPUWorkers, Log: s.err})
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
