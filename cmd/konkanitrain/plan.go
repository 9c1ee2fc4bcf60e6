package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/train"
)

// planConfig is the settings of plan, beside those of train.
type planConfig struct {
	Memory          string  `yaml:"memory" default:"" check:"any" zero:"that of the card, or what this machine leaves a run" help:"memory to plan for, as 14.74GiB; beside --card what of the card's is free"`
	Card            string  `yaml:"card" default:"" check:"any" help:"graphics card to plan for: rtx3060-laptop, rtx3060, t4, v100, p100, l4, a10, rtx4090, a100-40, h100 or a100-80"`
	Seconds         float64 `yaml:"seconds" default:"0" check:"0..86400" zero:"the manifests say" unit:"s" help:"plan for utterances that all have this length, without a manifest"`
	TokensPerSecond float64 `yaml:"tokens_per_second" default:"10" check:">0..1000" help:"with --seconds: letters in a second of sound"`
	JSON            bool    `yaml:"json" default:"false" check:"any" help:"print the plan as JSON"`
	HTML            string  `yaml:"html" default:"" check:"path" help:"file for a page that shows where everything lies in memory"`
	Compare         string  `yaml:"compare" default:"" check:"any" help:"print a table of presets instead: names of configs/NAME.yaml, or paths, with commas between"`
}

func planCommand() command {
	return command{
		name: "plan", args: "[flags]", summary: "what a run takes in memory and whether it fits, without running it",
		onStop: "stopping", run: runPlan,
	}
}

// errTooLarge is the error of a plan that doesn't fit, for its exit code.
var errTooLarge = errors.New("it doesn't fit")

func runPlan(ctx context.Context, args []string, s streams) error {
	o, err := newPlanOptions()
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	o.noArguments()
	if o.flags.Changed("compare") {
		return o.compare(s.out)
	}
	asked, err := o.read()
	if err != nil {
		return o.usage(err)
	}
	var page bytes.Buffer
	if asked.Out = s.err; o.own.HTML != "" {
		asked.Page = &page
	}
	r, err := train.Plan(ctx, o.config, asked)
	if err != nil {
		return err
	}
	if o.own.HTML != "" {
		if err := writeBytes("html", o.own.HTML, page.Bytes()); err != nil {
			return err
		}
	}
	if o.own.JSON {
		err = writeJSON(s.out, r)
	} else {
		_, err = io.WriteString(s.out, planText{r, o.own}.String())
	}
	if err == nil && r.Verdict == train.TooLarge {
		err = errTooLarge
	}
	return err
}

// planOptions are the settings of a run, and those of plan.
type planOptions struct {
	*trainOptions
	config train.Config
	own    planConfig
	ownSet *settings.Set
}

func newPlanOptions() (*planOptions, error) {
	o := &planOptions{}
	var err error
	if o.trainOptions, err = newTrainOptions("plan", &o.config); err != nil {
		return nil, err
	}
	if o.ownSet, err = settings.Of(&o.own); err != nil {
		return nil, err
	}
	settings.Defaults(&o.own)
	o.ownSet.Flags(o.flags)
	return o, nil
}

// read fills the settings and says what is to be planned. Nothing is written, and no device is needed where a card is
// named.
func (o *planOptions) read() (train.PlanOptions, error) {
	asked := train.PlanOptions{}
	err := errors.Join(o.fill(&o.config), o.ownSet.Apply(), o.ownSet.Check().Err())
	if err == nil {
		err = o.forWhat(&asked)
	}
	if err == nil {
		asked.Origin = o.origin
		err = asked.Check(o.config)
	}
	if err == nil && asked.Seconds == 0 {
		err = o.checkInputs(&o.config)
	}
	return asked, o.set.Locate(errors.Join(err, creatable("html", o.own.HTML)))
}

// forWhat reads which memory and which utterances are meant.
func (o *planOptions) forWhat(asked *train.PlanOptions) error {
	var problems []error
	asked.Seconds, asked.TokensPerSecond = o.own.Seconds, o.own.TokensPerSecond
	if o.flags.Changed("memory") {
		var err error
		if asked.Memory, err = words.ParseBytes(o.own.Memory); err != nil {
			problems = append(problems, settings.Problemf("memory", "memory: %w", err))
		}
	}
	if o.flags.Changed("card") {
		card, err := train.FindCard(o.own.Card)
		problems = append(problems, settings.About("card", err))
		asked.Card = &card
	}
	if o.flags.Changed("tokens_per_second") && o.own.Seconds == 0 {
		problems = append(problems, settings.Problemf("tokens_per_second", "tokens_per_second is for utterances that --seconds makes up; those of a manifest have their texts"))
	}
	if asked.Card == nil {
		var err error
		asked.Card, err = o.config.Run.OwnCard()
		problems = append(problems, err)
	} else if o.config.Run.Device == "cpu" {
		problems = append(problems, settings.Problemf("device card", "device is cpu, and the plan is for the card %s: leave one out", asked.Card.Name))
	}
	return errors.Join(problems...)
}
