package main

import (
	"fmt"
	"strings"

	"konkanitrain/train"
)

// timesText is what an update takes on a card by the estimate, op by op, and on other cards; "" where nothing is known.
func timesText(r *train.PlanReport) string {
	if len(r.Times) == 0 {
		return ""
	}
	var s strings.Builder
	own, autocast := r.Times[0], "in float32"
	if r.FP16 {
		autocast = "under autocast to float16"
	}
	passes := "1 pass"
	if own.Passes > 1 {
		passes = fmt.Sprintf("%d passes", own.Passes)
	}
	fmt.Fprintf(&s, "time of the update with the largest pass, in %s: an estimate from data sheets, not measured;\n", passes)
	fmt.Fprintf(&s, "PyTorch on paper: the same operations, eager, %s\n", autocast)
	fmt.Fprintf(&s, "  %-25s %8s %9s %9s %10s %10s\n", own.Title, "launches", "GB", "GFLOP", "ms", "PyTorch")
	row := func(t train.PlanOp) {
		fmt.Fprintf(&s, "  %-25s %8d %9.2f %9.1f %10.2f %10.2f\n", t.Op, t.Launches, t.Bytes/1e9, t.FLOPs/1e9, 1e3*t.Seconds, 1e3*t.Eager)
	}
	const least = 0.01 // of the time, for a line of its own
	rest := train.PlanOp{Op: "the others"}
	for _, t := range own.Ops {
		if t.Seconds >= least*own.All.Seconds || t.Eager >= least*own.All.Eager {
			row(t)
		} else {
			rest.Add(t)
		}
	}
	if rest.Calls > 0 {
		row(rest)
	}
	row(own.All)
	for _, t := range r.Times {
		fmt.Fprintf(&s, "  %-25s an update takes %.3g s, PyTorch's %.3g s: %.2f times as long\n", t.Title, t.All.Seconds, t.All.Eager, t.All.Eager/t.All.Seconds)
	}
	return s.String() + "\n"
}
