package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// evalConfig is the settings of eval.
type evalConfig struct {
	trained      `yaml:",inline"`
	Manifest     []string `yaml:"manifest" default:"" check:"path" help:"manifest to score on; may be given several times"`
	PerUtterance string   `yaml:"per_utterance" default:"" check:"path" help:"file for one line of tab-separated values for each utterance; - for standard output"`
	JSON         bool     `yaml:"json" default:"false" check:"any" help:"print the result as JSON"`
	PathMap      []string `yaml:"path_map" default:"" check:"path map" help:"replace the start of audio paths, FROM=TO; may be given several times"`
	SkipBadLines bool     `yaml:"skip_bad_lines" default:"false" check:"any" help:"leave out manifest lines that can't be parsed, instead of stopping"`
	BadLineLimit float64  `yaml:"bad_line_limit" default:"0" check:"share" zero:"0.05, but ten lines in any case" help:"share of unusable manifest lines above which nothing is scored"`
	decoding     `yaml:",inline"`
	machine      `yaml:",inline"`
}

func evalCommand() command {
	return command{
		name: "eval", args: "--checkpoint PATH --manifest FILE", summary: "score a model on a manifest: word and character error rates",
		onStop: "stopping", run: runEval,
	}
}

func evalHelp() (string, error) {
	o, err := newOptions("eval", &evalConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(evalCommand()) + `
Texts of the manifest are written by the policy that is stored with the model, and every utterance is scored that has a
text and whose sound can be read; the others are counted with the reasons, and with --json listed. Of a text that is
empty ("") all recognized words are errors. Rates are errors of all utterances over words (characters) of all
references. Characters are code points, spaces included. The exit code is 0 whatever is left out, unless that is more
than bad_line_limit or everything: then it is 1.
Progress goes to standard error, the result to standard output (to standard error with --per_utterance -).
` + o.usages(), nil
}

func runEval(ctx context.Context, args []string, s streams) error {
	var c evalConfig
	o, err := newOptions("eval", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	o.noArguments()
	if err := o.apply(c.rules); err != nil {
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
	if err := model.SetDecoding(d); err != nil {
		return err
	}
	rows := newTable(c.PerUtterance, s.out)
	e, report, err := model.EvaluateAll(ctx, c.Manifest, recognize.EvaluateOptions{
		PathMap: c.PathMap, SkipBadLines: c.SkipBadLines, BadLineLimit: c.BadLineLimit, Progress: s.err, PerUtterance: rows.add,
	})
	if err := rows.end(err); err != nil {
		return err
	}
	out := s.out
	if c.PerUtterance == "-" {
		out = s.err
	}
	r := evalResult{model, report.Path, e, report}
	if c.JSON {
		return r.json(out)
	}
	_, err = io.WriteString(out, r.text())
	return err
}

// rules are what the settings have to agree with, on disk and on this machine.
func (c *evalConfig) rules(p *settings.Problems) {
	c.trained.rules(p)
	if len(c.Manifest) == 0 {
		p.Add(needManifest("manifest", ""))
	}
	for _, path := range c.Manifest {
		list, err := data.ParseManifests([]string{path})
		switch {
		case err == nil && len(list) == 1 && list[0].Path != path:
			err = fmt.Errorf("manifest: %s: a weight is for training, and eval scores each utterance once: give %s", path, list[0].Path)
		case err == nil:
			err = needManifest("manifest", path)
		}
		p.Add(settings.About("manifest", err))
	}
	p.Add(settings.About("per_utterance", tableOnly(c.PerUtterance)))
	p.Add(train.CheckPathMap(c.PathMap))
	c.decoding.rules(p, 0)
	c.machine.rules(p)
}

// evalResult is what came out.
type evalResult struct {
	model    *recognize.Model
	manifest string
	scored   *recognize.Evaluation
	report   *data.Report // what became of every line of the manifest
}

// text is the result for people: every rate with the integers behind it.
func (r evalResult) text() string {
	e := r.scored
	w, n, out := e.Score.Words, e.Score.Utterances, r.report.Lines-e.Score.Utterances
	parts := ""
	if e.CE > 0 { // there is a decoder
		parts = fmt.Sprintf(" (CTC %.4f, cross-entropy %.4f)", e.CTC, e.CE)
	}
	text := fmt.Sprintf(`model                 %s
manifest              %s: %s listed, %d scored, %.1f s of audio, in %.1f s
word error rate       %v
character error rate  %v
word accuracy         %s
exact match           %s of the utterances
empty output          %s of the utterances, blank in %.1f %% of the frames
loss                  %.4f nats per utterance%s
`, r.model, r.manifest, words.Count(r.report.Lines, "line"), n, e.Audio, e.Took, w, e.Score.Chars,
		share(w.Ref-w.Errors(), w.Ref), share(e.Score.Exact, n), share(e.Score.EmptyHyps, n), 100*e.BlankShare, e.Loss, parts)
	if p := e.Score.Plain; p != nil {
		text += fmt.Sprintf("without punctuation   %v\n", p)
	}
	if u := &r.report.Unknown; u.Outside > 0 {
		text += fmt.Sprintf("outside vocabulary    %s of the letters\n", share(u.Outside, u.Letters))
	}
	if e.Infeasible > 0 {
		text += fmt.Sprintf("too short for CTC     %s of the utterances\n", share(e.Infeasible, n))
	}
	if out > 0 {
		text += fmt.Sprintf("left out              %s of the lines: %s\n", share(out, r.report.Lines), strings.Join(r.reasons(), ", "))
	}
	return text
}

// leftOut lists the notes on lines that were not scored, the first of each kind.
func (r evalResult) leftOut() []data.Note {
	notes := []data.Note{}
	for _, n := range r.report.Notes {
		if n.Skipped {
			notes = append(notes, n)
		}
	}
	return notes
}

// reasons counts the lines that were left out, by what was wrong with them.
func (r evalResult) reasons() []string {
	var reasons []string
	for k, skipped := range r.report.Sorts() {
		if skipped {
			reasons = append(reasons, fmt.Sprintf("%d %s", r.report.CountOf(k, true), k))
		}
	}
	return reasons
}

// share is "98.75 % (79/80)".
func share(part, whole int) string {
	return fmt.Sprintf("%.2f %% (%d/%d)", 100*float64(part)/float64(max(1, whole)), part, whole)
}

// leftOutLine is a line that was not scored, for programs.
type leftOutLine struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	ID     string `json:"id"`
	Why    string `json:"why"`
	Reason string `json:"reason"`
}

// outsideLetters counts the letters of the references that the model can't write.
type outsideLetters struct {
	Letters int `json:"letters"` // all
	Outside int `json:"outside"`
}

// json writes the result for programs.
func (r evalResult) json(w io.Writer) error {
	out := []leftOutLine{}
	counts := map[string]int{}
	var outside *outsideLetters
	if u := &r.report.Unknown; u.Outside > 0 {
		outside = &outsideLetters{u.Letters, u.Outside}
	}
	for _, n := range r.leftOut() {
		out = append(out, leftOutLine{n.File, n.Line, n.ID, string(n.Kind), n.Reason})
		counts[string(n.Kind)] = r.report.CountOf(n.Kind, true)
	}
	return writeJSON(w, struct {
		Model    string                `json:"model"`
		Manifest string                `json:"manifest"`
		Listed   int                   `json:"listed"` // lines
		Scored   int                   `json:"scored"` // of them; the others are left out
		Result   *recognize.Evaluation `json:"result"`
		LeftOut  []leftOutLine         `json:"left_out"` // not in the result; of many of a kind the first
		Counts   map[string]int        `json:"left_out_counts"`
		Outside  *outsideLetters       `json:"outside_vocabulary,omitempty"`
	}{r.model.String(), r.manifest, r.report.Lines, r.scored.Score.Utterances, r.scored, out, counts, outside})
}
