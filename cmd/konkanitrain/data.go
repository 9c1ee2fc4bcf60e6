package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/audit"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/train"
)

// dataConfig is the settings of data, beside those of train.
type dataConfig struct {
	Sound     bool   `yaml:"sound" default:"true" check:"any" help:"read all sound; without it only texts and the headers of sound files are looked at"`
	JSON      bool   `yaml:"json" default:"false" check:"any" help:"print all that was found as JSON"`
	HTML      string `yaml:"html" default:"" check:"path" help:"file for a page with histograms, where what was found, and what augmentation makes of a few utterances, can be heard and seen"`
	HTMLSound string `yaml:"html_sound" default:"16MB" check:"any" help:"the most that sound may add to the page; 0 for none"`
	Strict    bool   `yaml:"strict" default:"false" check:"any" help:"exit with code 1 where there is a fault"`
}

func dataCommand() command {
	return command{
		name: "data", args: "MANIFEST...", summary: "look at sets before training: hours, lengths, odd sound and text, overlap",
		onStop: "stopping", run: runData,
	}
}

// errFaults is the error of sets with faults, where it is asked for.
var errFaults = errors.New("there are faults")

func runData(ctx context.Context, args []string, s streams) error {
	o, err := newDataOptions()
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	asked, err := o.read()
	if err != nil {
		return o.usage(err)
	}
	if asked.weighted {
		fmt.Fprintln(s.err, "NOTE: weights of manifests are for training: each utterance is looked at once")
	}
	sets, err := train.LoadForAudit(ctx, o.config, asked.train, asked.heldOut)
	if err != nil {
		return err
	}
	progress := newDataProgress(s.err)
	report, err := audit.Run(ctx, sets, audit.Options{SkipSound: !o.own.Sound, Progress: progress.show})
	progress.end()
	if err != nil {
		return err
	}
	if o.own.HTML != "" {
		var hearing *train.Hearing
		if o.own.Sound {
			if hearing, err = train.Hear(ctx, o.config, sets, heardUtterances); err != nil {
				return err
			}
		}
		if err := writeDataPage(ctx, o.own.HTML, report, hearing, asked.pageSound); err != nil {
			return err
		}
	}
	if o.own.JSON {
		err = writeJSON(s.out, report)
	} else {
		_, err = io.WriteString(s.out, dataText{report}.String())
	}
	if err == nil && o.own.Strict && report.Count(audit.Fault) > 0 {
		err = errFaults
	}
	return err
}

// dataOptions are the settings of a run, and those of data.
type dataOptions struct {
	*trainOptions
	config train.Config
	own    dataConfig
	ownSet *settings.Set
}

func newDataOptions() (*dataOptions, error) {
	o := &dataOptions{}
	var err error
	if o.trainOptions, err = newTrainOptions("data", &o.config); err != nil {
		return nil, err
	}
	if o.ownSet, err = settings.Of(&o.own); err != nil {
		return nil, err
	}
	settings.Defaults(&o.own)
	o.ownSet.Flags(o.flags)
	return o, nil
}

// dataAsked is what is to be looked at.
type dataAsked struct {
	train, heldOut []string // manifests
	weighted       bool     // some have weights, which are nothing to look at
	pageSound      int64    // bytes
}

// read fills the settings and says what is to be looked at: the manifests that are named as arguments, the first for
// training, or else those of the settings.
func (o *dataOptions) read() (dataAsked, error) {
	var asked dataAsked
	err := errors.Join(o.given(), o.ownSet.Apply(), o.ownSet.Check().Err())
	if err == nil && o.config.Run.Resume != "" {
		err = o.resume(&o.config)
	}
	if err != nil {
		return asked, err
	}
	d := &o.config.Data
	asked.weighted = weighted(slices.Concat(o.flags.Args(), d.TrainManifest))
	if arguments := paths(o.flags.Args()); len(arguments) > 0 {
		err = errors.Join(o.alsoNamed("train_manifest"), o.alsoNamed("val_manifest"), o.alsoNamed("test_manifest"))
		asked.train, asked.heldOut = arguments[:1], arguments[1:]
		d.TrainManifest, d.ValManifest, d.TestManifest = nil, nil, nil
	} else {
		asked.train, asked.heldOut = paths(d.TrainManifest), paths(slices.Concat(d.ValManifest, d.TestManifest))
	}
	if len(asked.train) == 0 {
		err = errors.Join(err, errors.New("no manifest is given: name that of the training set behind `data`, and behind it those that are held out"))
	}
	for _, path := range append(asked.train[:len(asked.train):len(asked.train)], asked.heldOut...) {
		err = errors.Join(err, needManifest("manifest", path))
	}
	if o.own.HTMLSound != "0" {
		size, wrong := words.ParseBytes(o.own.HTMLSound)
		if asked.pageSound = size; wrong != nil {
			err = errors.Join(err, settings.Problemf("html_sound", "html_sound: %w", wrong))
		}
	}
	o.config.Run.EarlyStop = 0 // which asks for a validation set, and nothing is trained
	return asked, errors.Join(err, creatable("html", o.own.HTML), o.set.Locate(o.config.Validate()))
}

// alsoNamed is an error where a setting names manifests too.
func (o *dataOptions) alsoNamed(key string) error {
	if !o.flags.Changed(key) {
		return nil
	}
	return settings.Problemf(key, "manifests are named behind `data` and as --%s: leave out one of the two", key)
}

// weighted says whether manifests are written with weights.
func weighted(manifests []string) bool {
	list, err := data.ParseManifests(manifests)
	return err == nil && slices.ContainsFunc(list, func(m data.Manifest) bool { return m.Weight != 1 })
}

// paths are those of manifests, without their weights.
func paths(manifests []string) []string {
	list, err := data.ParseManifests(manifests)
	if err != nil {
		return manifests // which are looked for, and told of
	}
	var out []string
	for _, m := range list {
		out = append(out, m.Path)
	}
	return out
}

func dataHelp() (string, error) {
	o, err := newDataOptions()
	if err != nil {
		return "", err
	}
	return usageLine(dataCommand()) + dataHelpText + o.ownUsages(o.ownSet), nil
}

const dataHelpText = `
  konkanitrain data train.jsonl dev.jsonl test.jsonl
  konkanitrain data train.jsonl dev.jsonl --html data.html
  konkanitrain data --config configs/minimal.yaml --train_manifest train.jsonl --val_manifest dev.jsonl --json

The first manifest is the training set; the others are held out, and looked at for what is in training too. Without one
they are those of the settings. All settings of train are taken as train takes them (` + "`konkanitrain help train`" + `): what
sample_rate, max_duration, path_map, subsampling and the like would leave out is left out and told. All sound is read,
once; nothing is written but the page. The result goes to standard output, progress to standard error.

Findings are faults (wrong, whatever the set is for), doubts (look at them) and remarks. A wrong text that is as long as
the right one is not found: eval --per_utterance finds those, once there is a model. The exit code is 0 whatever is
found, but for --strict.

With --json the result is one object. Lengths are in seconds, levels in dB relative to full scale, shares from 0 to 1:
  findings     kind (a name), grade ("fault", "doubt" or "remark"), count, title (a sentence), and items, the worst
               first, at most 1000: set, file, line, id, sound (path), seconds, text, detail, score
  sets         path, role ("train" or "held_out"), lines (listed), used, seconds (of those used, as is all that follows),
               recordings, speakers; rates, channels, formats and left_out (lines): value, count, seconds; texts:
               different, words, letters, repeated (text, count); heard (utterances whose sound was read), clipped (those
               with any clipped sample), largest_dc (largest mean of samples); and distributions: length, letters (of a
               text), rate (letters a second), level, silence (share of frames), leading and trailing (silence). These
               have count, min, p1, p5, p25, median, p75, p95, p99, max, mean and histogram: from, step, counts, and
               below and above, outside the steps
  overlaps     of two sets: first, second, of (utterances of the second), and how many of these have a sound, text or
               speaker of the first: sound, text, speaker, speakers (names)
  alphabet     characters: char, code, script, train and held_out (times), lines (file, line) of those that training has
               less than 5 times; scripts: name, letters, utterances
  notes        what was not looked at

Flags, beside those of train:
`

// fileLine is a place in a manifest as editors and terminals know it.
func fileLine(file string, line int) string {
	if line <= 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
