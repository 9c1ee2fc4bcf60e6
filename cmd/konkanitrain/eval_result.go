package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/scores"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// evalResult is what came out.
type evalResult struct {
	model    string
	report   *scores.Report
	leftOut  leftOut
	manifest string // "" of alignments that were read, of which the next two are nil
	scored   *recognize.Evaluation
	audit    *data.Report // what became of every line of the manifest
	judge    recognize.Judge

	against    *evalResult // of the other model; nil without one
	comparison *scores.Comparison
}

// row is a line of the result for people.
func row(b *strings.Builder, name, format string, args ...any) {
	fmt.Fprintf(b, "%-22s%s\n", name, fmt.Sprintf(format, args...))
}

// text is the result for people: every rate with the integers behind it.
func (r *evalResult) text() string {
	var b strings.Builder
	e := r.scored
	w, n := e.Score.Words, e.Score.Utterances
	parts := ""
	if e.CE > 0 { // there is a decoder
		parts = fmt.Sprintf(" (CTC %.4f, cross-entropy %.4f)", e.CTC, e.CE)
	}
	row(&b, "model", "%s", r.model)
	row(&b, "manifest", "%s: %s listed, %d scored, %.1f s of audio, in %.1f s", r.manifest, words.Count(r.leftOut.listed, "line"), n, e.Audio, e.Took)
	row(&b, "word error rate", "%v", w)
	row(&b, "character error rate", "%v", e.Score.Chars)
	if i := r.report.Intervals; i != nil {
		row(&b, "95 % intervals", "WER %s, CER %s", percents(i.WER), percents(i.CER))
	}
	row(&b, "word accuracy", "%s", share(w.Ref-w.Errors(), w.Ref))
	row(&b, "exact match", "%s of the utterances", share(e.Score.Exact, n))
	row(&b, "empty output", "%s of the utterances, blank in %.1f %% of the frames", share(e.Score.EmptyHyps, n), 100*e.BlankShare)
	row(&b, "loss", "%.4f nats per utterance%s", e.Loss, parts)
	if p := e.Score.Plain; p != nil {
		row(&b, "without punctuation", "%v", p)
	}
	if u := &r.audit.Unknown; u.Outside > 0 {
		row(&b, "outside vocabulary", "%s of the letters", share(u.Outside, u.Letters))
	}
	if e.Infeasible > 0 {
		row(&b, "too short for CTC", "%s of the utterances", share(e.Infeasible, n))
	}
	if out := r.leftOut.listed - n; out > 0 {
		row(&b, "left out", "%s of the lines: %s", share(out, r.leftOut.listed), r.leftOut.reasons())
	}
	r.details(&b)
	return b.String()
}

// details are how the errors are spread, what they are, and where.
func (r *evalResult) details(b *strings.Builder) {
	if r.scored.Score.Words.Errors()+r.scored.Score.Chars.Errors() > 0 {
		row(b, "utterances by CER", "%s", spread(&r.report.Rates.Chars))
		c := &r.report.Confusions
		row(b, "words confused", "%s", confused(c.Words, c.AllWords))
		row(b, "characters confused", "%s", confused(c.Clusters, c.AllClusters))
	}
	for i := range r.report.By {
		writeBreakdown(b, &r.report.By[i])
	}
	if r.comparison != nil {
		r.writeComparison(b)
	}
	if len(r.report.Worst) > 0 {
		fmt.Fprintf(b, "worst:\n")
	}
	for i := range r.report.Worst {
		b.WriteString(alignedText(&r.report.Worst[i]))
	}
}

// spread is how many utterances have which error rates: "34 right, 3 up to 10 %, 2 over 100 %".
func spread(h *scores.Histogram) string {
	var list []string
	for i, n := range h {
		switch {
		case n == 0:
		case i == 0:
			list = append(list, fmt.Sprintf("%d right", n))
		case i == scores.Bins-1:
			list = append(list, fmt.Sprintf("%d over 100 %%", n))
		default:
			list = append(list, fmt.Sprintf("%d to %d %%", n, 10*i))
		}
	}
	return strings.Join(list, ", ")
}

// shownConfusions is how many confusions of a kind a person is shown.
const shownConfusions = 6

// confused names the commonest confusions, of so many different ones.
func confused(list []scores.Confusion, all int) string {
	if all == 0 {
		return "none"
	}
	var some []string
	for _, c := range list[:min(len(list), shownConfusions)] {
		ref, hyp := visible(c.Ref), visible(c.Hyp)
		switch c.Edit() {
		case scores.Deleted:
			some = append(some, fmt.Sprintf("%s left out x %d", ref, c.Count))
		case scores.Inserted:
			some = append(some, fmt.Sprintf("%s added x %d", hyp, c.Count))
		default:
			some = append(some, fmt.Sprintf("%s as %s x %d", ref, hyp, c.Count))
		}
	}
	s := strings.Join(some, ", ")
	if more := all - len(some); more > 0 {
		s += fmt.Sprintf(", and %d more", more)
	}
	return s
}

// visible is a token as a message has it: a space by its name.
func visible(token string) string {
	if token == " " {
		return "(space)"
	}
	return token
}

// shownGroups is how many groups a person is shown.
const shownGroups = 10

// writeBreakdown is a table of groups, of many of them those with the most words.
func writeBreakdown(b *strings.Builder, d *scores.Breakdown) {
	groups := d.Groups
	fmt.Fprintf(b, "by %-19s%10s %8s  %-28s  %s\n", d.Key, "utterances", "words", "WER (95 %)", "CER (95 %)")
	if len(groups) > shownGroups {
		kept := slices.SortedFunc(slices.Values(groups), func(x, y scores.Group) int { return cmp.Compare(y.Words.Ref, x.Words.Ref) })[:shownGroups]
		groups = slices.DeleteFunc(slices.Clone(groups), func(g scores.Group) bool {
			return !slices.ContainsFunc(kept, func(k scores.Group) bool { return k.Value == g.Value })
		})
	}
	for _, g := range groups {
		wer, cer := fmt.Sprintf("%.2f %%", 100*g.WER), fmt.Sprintf("%.2f %%", 100*g.CER)
		if i := g.Intervals; i != nil {
			wer, cer = fmt.Sprintf("%s (%s)", wer, percents(i.WER)), fmt.Sprintf("%s (%s)", cer, percents(i.CER))
		}
		fmt.Fprintf(b, "  %s%10d %8d  %-28s  %s\n", scores.Fit(cmp.Or(g.Value, "(none)"), 20), g.Utterances, g.Words.Ref, wer, cer)
	}
	if more := len(d.Groups) - len(groups); more > 0 {
		fmt.Fprintf(b, "  and %d more with fewer words (--json has all)\n", more)
	}
}

// writeComparison is how the model does beside another.
func (r *evalResult) writeComparison(b *strings.Builder) {
	c := r.comparison
	row(b, "against", "%s", r.against.model)
	row(b, "  on both's", "%s: WER %.2f %% here, %.2f %% there; CER %.2f %% here, %.2f %% there", words.Count(c.Utterances, "utterance"),
		100*c.This.WER, 100*c.Other.WER, 100*c.This.CER, 100*c.Other.CER)
	row(b, "  words", "%s", contrast(&c.Words))
	row(b, "  characters", "%s", contrast(&c.Chars))
	if c.OnlyThis+c.OnlyOther > 0 {
		row(b, "  not compared", "%d scored here alone, %d there alone", c.OnlyThis, c.OnlyOther)
	}
	if out := r.against.leftOut.listed - r.against.leftOut.scored; out > 0 {
		row(b, "  left out there", "%s of the lines: %s", share(out, r.against.leftOut.listed), r.against.leftOut.reasons())
	}
	if c.Unlike > 0 {
		row(b, "  references", "of %s the two models write differently: their rules for texts aren't the same", words.Count(c.Unlike, "utterance"))
	}
}

// contrast is a difference in one line.
func contrast(c *scores.Contrast) string {
	interval := ""
	if c.Interval != nil {
		interval = fmt.Sprintf(" (95 %%: %+.2f to %+.2f)", 100*c.Interval.Low, 100*c.Interval.High)
	}
	return fmt.Sprintf("%+.2f points%s, p %.4f; fewer errors here in %s, more in %d", 100*c.Difference, interval, c.P, words.Count(c.Fewer, "utterance"), c.More)
}

// percents is "48.75 to 66.25 %".
func percents(i scores.Interval) string { return fmt.Sprintf("%.2f to %.2f %%", 100*i.Low, 100*i.High) }

// share is "98.75 % (79/80)".
func share(part, whole int) string {
	return fmt.Sprintf("%.2f %% (%d/%d)", 100*float64(part)/float64(max(1, whole)), part, whole)
}
