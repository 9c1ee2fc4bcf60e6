package main

import (
	"fmt"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/words"
	"konkanitrain/train"
)

// planText is a plan for people.
type planText struct {
	r   *train.PlanReport
	own planConfig
}

// String is the whole text.
func (t planText) String() string {
	var s strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&s, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	r := t.r
	n := r.Parameters
	line("plan for", "%s, %s", r.Title, limitText(r))
	line("network", "%s parameters: subsampling %s, encoder %s, ctc %s, decoder %s; vocabulary %d",
		thousands(n.Total), thousands(n.Subsampling), thousands(n.Encoder), thousands(n.CTC), thousands(n.Decoder), r.Vocabulary)
	if n.Learned < n.Total {
		line("frozen", "%s parameters, which have no gradient and no moments; %s learn", thousands(n.Total-n.Learned), thousands(n.Learned))
	}
	precision := "float32"
	if r.FP16 {
		precision = "fp16"
	}
	line("as set", "%s an update, micro-batches of up to %d, recompute %s, %s", words.Count(r.Window, "utterance"), r.BatchSize, r.Recompute, precision)
	s.WriteString("\n" + totals(r))
	if p := r.Peak; p != nil {
		line("largest pass", "%s; its longest is %s", passText(*p), who(*p.Longest))
	}
	s.WriteString("\n")
	t.verdict(line)
	s.WriteString(shapesText(r))
	s.WriteString(timesText(r))
	for _, x := range r.NotCounted {
		line("not counted", "%s", x)
	}
	return s.String()
}

func limitText(r *train.PlanReport) string {
	if r.Limit == 0 {
		return "how much memory there is isn't known"
	}
	return fmt.Sprintf("%s of memory (%s)", words.Binary(r.Limit), r.LimitFrom)
}

// totals is who holds how much, as set and fitted.
func totals(r *train.PlanReport) string {
	var s strings.Builder
	columns := []train.PlanTotal{r.AsSet}
	fmt.Fprintf(&s, "%-27s %12s", "memory", "as set")
	if r.Fitted != nil {
		columns = append(columns, *r.Fitted)
		fmt.Fprintf(&s, " %12s", "fitted")
	}
	s.WriteString("\n")
	row := func(name string, cell func(train.PlanTotal) int64, note string) {
		fmt.Fprintf(&s, "  %-25s", name)
		for _, c := range columns {
			fmt.Fprintf(&s, " %12s", words.Binary(cell(c)))
		}
		s.WriteString(note + "\n")
	}
	row("weights", func(t train.PlanTotal) int64 { return t.Weights }, "")
	row("gradients", func(t train.PlanTotal) int64 { return t.Gradients }, ofWorkers(r.Workers))
	row("moments", func(t train.PlanTotal) int64 { return t.Moments }, "")
	if columns[0].Averages > 0 {
		row("averages of weights", func(t train.PlanTotal) int64 { return t.Averages }, "")
	}
	row("activations", func(t train.PlanTotal) int64 { return t.Arenas }, ofWorkers(r.Workers))
	for _, x := range r.Beside {
		if x.Bytes > 0 {
			row(x.Name, func(train.PlanTotal) int64 { return x.Bytes }, "")
		}
	}
	row("in all", func(t train.PlanTotal) int64 { return t.Total }, "")
	if columns[0].Seconds > 0 {
		fmt.Fprintf(&s, "  %-25s", "an update")
		for _, c := range columns {
			fmt.Fprintf(&s, " %10.3g s", c.Seconds)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// ofWorkers says that a figure is the sum of several workers'.
func ofWorkers(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("   of %d workers", n)
}

// verdict is whether it fits, and how.
func (t planText) verdict(line func(name, format string, args ...any)) {
	r := t.r
	switch {
	case r.Verdict == train.Fits && r.Limit == 0:
		line("verdict", "%s is what it takes", words.Binary(r.AsSet.Total))
	case r.Verdict == train.Fits:
		line("verdict", "it fits: %s of %s are left", words.Binary(r.Limit-r.AsSet.Total), words.Binary(r.Limit))
	case r.Verdict == train.Fitted:
		line("verdict", "it fits as auto_fit chooses, %s; an update still has %s", moreWork(r.Repeated), words.Count(r.Window, "utterance"))
		for i, c := range r.Choice {
			if i == 12 {
				line("", "and %d more", len(r.Choice)-i)
				break
			}
			line("", "%5d times %s", c.Times, passText(c))
		}
	default:
		line("verdict", "it doesn't fit")
	}
	for i, u := range r.LeftOut {
		if i == 3 {
			line("", "and %d more", len(r.LeftOut)-i)
			break
		}
		line("too large", "%s", who(u))
	}
	for _, a := range r.Advice {
		line("what would", "%s", a)
	}
}

// moreWork is what is computed again, and what more passes cost.
func moreWork(share float64) string {
	if share < 0.005 {
		return "without more work"
	}
	return fmt.Sprintf("with %.0f %% more operations", 100*share)
}

// passText is a micro-batch in words.
func passText(p train.PlanPass) string {
	what := ""
	if p.Purpose != "training" {
		what = "scoring "
	}
	text := fmt.Sprintf("%s%s of %.1f s, %d tokens", what, words.Count(p.Rows, "row"), float64(p.Frames)/100, p.Tokens)
	if p.Recompute != "none" {
		text += ", recompute " + p.Recompute
	}
	return text + ": " + words.Binary(p.Bytes)
}

// who names an utterance.
func who(u train.PlanUtterance) string {
	return fmt.Sprintf("%s (%s), %.1f s", u.ID, data.Where(u.File, u.Line), u.Seconds)
}
