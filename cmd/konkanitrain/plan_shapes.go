package main

import (
	"fmt"
	"slices"
	"strings"

	"konkanitrain/internal/words"
	"konkanitrain/train"
)

// shapesText is the two tables of shapes: what they take in each way, and how many rows would fit.
func shapesText(r *train.PlanReport) string {
	if len(r.Shapes) == 0 {
		return ""
	}
	var s strings.Builder
	table := func(title string, rows func(train.PlanShape) string, cell func(train.PlanWay) string) {
		fmt.Fprintf(&s, "\n%s\n  %-8s %12s %6s", title, "", "length", "tokens")
		for _, w := range r.Shapes[0].Ways {
			precision := ""
			if w.FP16 {
				precision = "fp16 "
			}
			fmt.Fprintf(&s, " %11s", precision+w.Recompute)
		}
		s.WriteString("\n")
		for _, x := range r.Shapes {
			fmt.Fprintf(&s, "  %-8s %12s %6d", x.What, fmt.Sprintf("%s%.1f s", rows(x), float64(x.Frames)/100), x.Tokens)
			for _, w := range x.Ways {
				fmt.Fprintf(&s, " %11s", cell(w))
			}
			s.WriteString("\n")
		}
	}
	what := "all"
	if len(r.Shapes) < r.Variety {
		what = "the largest, and percentiles of the length"
	}
	title := fmt.Sprintf("activations of one worker, by recompute (%s of training: %s)", words.Count(r.Variety, "shape"), what)
	table(title, func(x train.PlanShape) string { return fmt.Sprintf("%d x ", x.Rows) }, func(w train.PlanWay) string { return words.Binary(w.Bytes) })
	if r.Limit > 0 && slices.ContainsFunc(r.Shapes, fitsSomehow) {
		table("the most rows of one pass for which there is room (of 1, 2, 4 .. 1024)", func(train.PlanShape) string { return "" }, mostText)
	}
	return s.String() + "\n"
}

// fitsSomehow says whether there is a way in which one row of a shape fits.
func fitsSomehow(x train.PlanShape) bool {
	return slices.ContainsFunc(x.Ways, func(w train.PlanWay) bool { return w.MaxRows > 0 })
}

// mostText is the largest micro-batch that fits.
func mostText(w train.PlanWay) string {
	switch {
	case w.MaxRows == 0:
		return "none"
	case w.NextBytes == 0:
		return fmt.Sprintf("%d+", w.MaxRows)
	}
	return fmt.Sprint(w.MaxRows)
}
