package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"konkanitrain/data"
	"konkanitrain/train"
)

// evalConfig is the settings of eval.
type evalConfig struct {
	Checkpoint   string   `yaml:"checkpoint" help:"a checkpoint's folder (step-...), or a checkpoint_dir: its averaged weights, else its best checkpoint, else its newest"`
	Manifest     string   `yaml:"manifest" help:"manifest to score on"`
	PerUtterance string   `yaml:"per_utterance" help:"file for one line of tab-separated values for each utterance; - for standard output"`
	JSON         bool     `yaml:"json" help:"print the result as JSON"`
	PathMap      []string `yaml:"path_map" help:"replace the start of audio paths, FROM=TO; may be given several times"`
	SkipBadLines bool     `yaml:"skip_bad_lines" help:"leave out manifest lines that can't be parsed, instead of stopping"`
	BadLineLimit float64  `yaml:"bad_line_limit" help:"share of unusable manifest lines above which nothing is scored; 0: 0.05, but ten lines in any case"`
	Device       string   `yaml:"device" help:"auto, cpu or cuda"`
	CPUWorkers   int      `yaml:"cpu_workers" help:"compute workers on a CPU; 0: one for each core"`
}

func evalCommand() command {
	return command{
		name: "eval", args: "--checkpoint PATH --manifest FILE", summary: "score a model on a manifest: word and character error rates",
		onStop: "stopping", run: runEval,
	}
}

func evalHelp() (string, error) {
	o, err := newOptions("eval", &evalConfig{Device: "auto"}, nil)
	if err != nil {
		return "", err
	}
	return usageLine(evalCommand()) + `
Texts of the manifest are written by the policy that is stored with the model, and every utterance is scored. Rates
are errors of all utterances over words (characters) of all references. Characters are code points, spaces included.
Progress goes to standard error, the result to standard output (to standard error with --per_utterance -).
` + o.usages(), nil
}

func runEval(ctx context.Context, args []string, s streams) error {
	c := evalConfig{Device: "auto"}
	o, err := newOptions("eval", &c, nil)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	if err := o.noArguments(); err != nil {
		return err
	}
	if err := errors.Join(o.set.Apply(), c.validate()); err != nil {
		return o.usage(err)
	}
	model, err := train.Load(c.Checkpoint, train.LoadOptions{Device: c.Device, Workers: c.CPUWorkers, Log: s.err})
	if err != nil {
		return err
	}
	defer model.Close()
	rows := newTable(c.PerUtterance, s.out)
	e, err := model.Evaluate(ctx, c.Manifest, train.EvalOptions{
		PathMap: c.PathMap, SkipBadLines: c.SkipBadLines, BadLineLimit: c.BadLineLimit, Progress: s.err, PerUtterance: rows.add,
	})
	if err := rows.end(err); err != nil {
		return err
	}
	out := s.out
	if c.PerUtterance == "-" {
		out = s.err
	}
	if c.JSON {
		return printJSON(out, model, c, e)
	}
	_, err = io.WriteString(out, resultText(model, c, e))
	return err
}

func (c evalConfig) validate() error {
	problems := []error{
		needFolder("checkpoint", c.Checkpoint),
		needFile("manifest", c.Manifest, "FILE (JSON lines, CSV, Common Voice TSV or a Kaldi folder)"),
	}
	_, err := data.ParsePathMap(c.PathMap)
	problems = append(problems, tableOnly(c.PerUtterance), err)
	if c.BadLineLimit < 0 || c.BadLineLimit > 1 {
		problems = append(problems, fmt.Errorf("bad_line_limit is %g, want a share from 0 to 1", c.BadLineLimit))
	}
	return errors.Join(append(problems, checkDevice(c.Device, c.CPUWorkers))...)
}

func checkDevice(device string, workers int) error {
	var problems []error
	if workers < 0 || workers > 1024 {
		problems = append(problems, fmt.Errorf("cpu_workers is %d, want 0 (one for each core) to 1024", workers))
	}
	if _, _, err := train.ChooseDevice(device); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// resultText is the result for people: every rate with the integers behind it.
func resultText(model *train.Recogniser, c evalConfig, e *train.Evaluation) string {
	w, n := e.Score.Words, e.Score.Utterances
	parts := ""
	if e.CE > 0 { // there is a decoder
		parts = fmt.Sprintf(" (CTC %.4f, cross-entropy %.4f)", e.CTC, e.CE)
	}
	text := fmt.Sprintf(`model                 %s
manifest              %s: %d utterances, %.1f s of audio, in %.1f s
word error rate       %v
character error rate  %v
word accuracy         %s
exact match           %s of the utterances
empty output          %s of the utterances, blank in %.1f %% of the frames
loss                  %.4f nats per utterance%s
`, model.Describe(), c.Manifest, n, e.Audio, e.Took, w, e.Score.Chars,
		share(w.Ref-w.Errors(), w.Ref), share(e.Score.Exact, n), share(e.Score.EmptyHyps, n), 100*e.BlankShare, e.Loss, parts)
	if e.Infeasible > 0 {
		text += fmt.Sprintf("too short for CTC     %s of the utterances\n", share(e.Infeasible, n))
	}
	if e.Failed > 0 {
		text += fmt.Sprintf("unreadable            %s of the utterances, scored as empty output\n", share(e.Failed, n))
	}
	return text
}

// share is "98.75 % (79/80)".
func share(part, whole int) string {
	return fmt.Sprintf("%.2f %% (%d/%d)", 100*float64(part)/float64(max(1, whole)), part, whole)
}

// printJSON is the result for programs.
func printJSON(w io.Writer, model *train.Recogniser, c evalConfig, e *train.Evaluation) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Model    string            `json:"model"`
		Manifest string            `json:"manifest"`
		Result   *train.Evaluation `json:"result"`
	}{model.Describe(), c.Manifest, e})
}
