package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"konkanitrain/data/audio"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/recognize/transcript"
)

// transcribeConfig is the settings of transcribe.
type transcribeConfig struct {
	trained        `yaml:",inline"`
	Manifest       []string `yaml:"manifest" default:"" check:"path" help:"manifest whose sound is transcribed, whatever its texts are; may be given several times"`
	Format         string   `yaml:"format" default:"text" check:"text|json|jsonl|srt|vtt|ctm|textgrid" help:"what is printed: path and text, a line for each file; or words with times and confidences as JSON, subtitles, time-marked words of NIST, or a TextGrid of Praat"`
	Output         string   `yaml:"output" default:"" check:"path" zero:"standard output" help:"file to write into, with an extension, which is gone on with if it is half done; or a folder for a file for each sound file"`
	NBest          int      `yaml:"nbest" default:"0" check:"0..1000" zero:"none" help:"hypotheses to print for each file, the best first, of a beam search; with format json or jsonl"`
	PieceSeconds   float64  `yaml:"piece_seconds" default:"0" check:"0..600" zero:"20, or less for a model that has learned from short utterances" unit:"seconds" help:"the most sound that is recognized at once: longer sound is cut, at pauses where there are some, into pieces like the utterances of training; less where the memory limit asks for it"`
	OverlapSeconds float64  `yaml:"overlap_seconds" default:"0" check:"0..300" zero:"4, or a quarter of a piece where that is less" unit:"seconds" help:"sound that two pieces share where there is no pause between them"`
	SpoolLimit     string   `yaml:"spool_limit" default:"4GiB" check:"not empty" help:"the most of standard input that is put into a temporary file first, as it has to be where it is no WAV"`
	MemoryLog      string   `yaml:"memory_log" default:"stages" check:"off|stages|batch" help:"when the memory in use is printed: before anything is read, or after each batch too"`
	decoding       `yaml:",inline"`
	machine        `yaml:",inline"`
}

func transcribeCommand() command {
	return command{
		name: "transcribe", args: "--checkpoint PATH FILE...", summary: "write down what is said in sound files of any length",
		onStop: "stopping; what is written stays", run: runTranscribe,
	}
}

func transcribeHelp() (string, error) {
	o, err := newOptions("transcribe", &transcribeConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(transcribeCommand()) + `
Each FILE is a sound file, a folder of them, a manifest (.jsonl, .csv, .tsv, .tar, .parquet, a Kaldi folder ...), or -
for standard input: WAV, which is transcribed as it comes, or another format, which is put into a temporary file first.
Prints path, tab, text for each sound, in order. Sound longer than piece_seconds is cut at its pauses; where it has none,
pieces overlap, and are joined where both say the same. Memory doesn't depend on the length; what it will be is said
before. What can't be read is named on standard error and the others go on; the exit code is 1 then. Ctrl-C stops at
once, with exit code 130. With --output FILE what was done stays in the file, and the same command goes on behind it,
also in the middle of a long sound; with --output FOLDER those are passed over that have their file already.

  konkanitrain transcribe --checkpoint runs/first --decoder beam --lm lm.arpa.gz --format srt --output subtitles *.wav
  konkanitrain transcribe --checkpoint runs/first --decoding decoding.yaml one.wav

eval --tune finds the weights, and eval --save_decoding writes the file that --decoding reads. In all formats but text
there are words with their times, from the likeliest path of CTC that writes the text, and their confidences, 0 to 1:
how sure the network was of what it heard, and how many of the search's hypotheses have the word. A training with a
validation set calibrates those of greedy decoding, so that they are the shares of words that are right (info says
whether it has); for searches the calibration of such a file does. --confidence 1,0 leaves them as they are measured.
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
	if err := o.applyOver(file, func(p *settings.Problems) { c.rules(p, files, len(o.unknown) > 0) }); err != nil {
		return err
	}
	list, missing, err := c.recordings(ctx, files, s.err)
	if err != nil {
		return err
	}
	model, err := o.open(c.trained, c.machine, s.err)
	if err != nil {
		return err
	}
	defer model.Close()
	d, err := c.decoding.decoding()
	if err != nil {
		return err
	}
	d.NBest, d.Units = c.NBest, transcript.Format(c.Format).Units()
	if err := model.SetDecoding(d); err != nil {
		return err
	}
	out, err := c.sheet(model, list, s)
	if err != nil {
		return o.usage(err)
	}
	progress := newTranscribeProgress(out, s)
	out.say = progress.say
	options := recognize.TranscribeOptions{PieceSeconds: c.PieceSeconds, OverlapSeconds: c.OverlapSeconds, Progress: progress.show, Warn: func(w string) { progress.say("WARNING: " + w) }}
	if c.MemoryLog != "off" {
		options.Planned = func(p *recognize.TranscribePlan) { fmt.Fprintln(s.err, p) }
	}
	if c.MemoryLog == "batch" {
		options.Batch = func(b recognize.BatchMemory) { progress.say(b) }
	}
	err = out.end(model.TranscribeAll(ctx, out.left(), options, out))
	progress.end()
	if failed := len(out.state.Failed) + missing; err == nil && failed > 0 {
		err = fmt.Errorf("%d of %s could not be transcribed", failed, words.Count(len(list)+missing, "file"))
	}
	return err
}

// rules are what the settings have to agree with.
func (c *transcribeConfig) rules(p *settings.Problems, files []string, unknown bool) {
	c.trained.rules(p)
	c.machine.rules(p)
	c.decoding.rules(p, c.NBest)
	for _, path := range c.Manifest {
		p.Add(needManifest("manifest", path))
	}
	format := transcript.Format(c.Format)
	several := len(files)+len(c.Manifest) > 1 || len(c.Manifest) > 0 || len(files) == 1 && isFolder(files[0])
	if format.Single() && several && !toFolder(c.Output) {
		p.Add(settings.Problemf("output", "output is %q, and a file of format %s is of one sound file: give --output FOLDER", c.Output, c.Format))
	}
	if toFolder(c.Output) {
		p.Add(noFolder(c.Output))
	}
	if c.NBest > 0 && format != transcript.JSON && format != transcript.JSONL {
		p.Add(settings.Problemf("nbest", "nbest is %d, and format %s has no place for hypotheses: want format json or jsonl", c.NBest, c.Format))
	}
	if _, err := words.ParseBytes(c.SpoolLimit); err != nil {
		p.Add(settings.Problemf("spool_limit", "spool_limit: %w", err))
	}
	if c.PieceSeconds > 0 && c.PieceSeconds < recognize.ShortestPiece {
		p.Add(settings.Problemf("piece_seconds", "piece_seconds is %g: want %d or more, or 0", c.PieceSeconds, recognize.ShortestPiece))
	}
	if c.PieceSeconds > 0 && c.OverlapSeconds > c.PieceSeconds/2 {
		p.Add(settings.Problemf("overlap_seconds", "overlap_seconds is %g: want at most half of piece_seconds, %g", c.OverlapSeconds, c.PieceSeconds))
	}
	if len(files) == 0 && len(c.Manifest) == 0 && !unknown { // else one may be taken for a value
		p.Add(errors.New("no sound file is given: name one or more behind the flags, or - for standard input"))
	}
}

// noFolder is the problem with a file where a folder is to be; a name without an extension is a folder's.
func noFolder(output string) error {
	if stat, err := os.Stat(output); err == nil && !stat.IsDir() {
		return settings.Problemf("output", "output: %s would be a folder, and it is a file: name a folder that is there, or another one", output)
	}
	return nil
}

// spool is where standard input is put that is no WAV.
func (c *transcribeConfig) spool() audio.Spool {
	limit, _ := words.ParseBytes(c.SpoolLimit) // was checked
	return audio.Spool{Limit: limit}
}

func isFolder(path string) bool {
	stat, err := os.Stat(path)
	return err == nil && stat.IsDir()
}
