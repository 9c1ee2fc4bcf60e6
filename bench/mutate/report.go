package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// report is what a run has found, as --json writes it.
type report struct {
	Seed         uint64   `json:"seed"`
	Score        float64  `json:"score"` // caught per cent of caught and survived
	Caught       int      `json:"caught"`
	TimedOut     int      `json:"timed_out"` // of those caught
	Survived     int      `json:"survived"`
	NotCompiling int      `json:"not_compiling"`
	Stale        []string `json:"stale"`
	Changes      []result `json:"changes"`
	wanted       int
	interrupted  bool
}

func newReport(opts options, results []result, stale []string) report {
	r := report{Seed: opts.seed, Changes: results, Stale: stale, wanted: opts.count}
	for _, c := range results {
		switch c.Verdict {
		case caught:
			r.Caught++
		case survived:
			r.Survived++
		case notCompiling:
			r.NotCompiling++
		}
		if c.TimedOut {
			r.TimedOut++
		}
	}
	r.Score = percent(r.Caught, r.Caught+r.Survived)
	return r
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func printResult(out io.Writer, r result, done, count int) {
	by := r.By
	if r.TimedOut {
		by += ", timed out"
	}
	if by != "" {
		by = "  [" + by + "]"
	}
	fmt.Fprintf(out, "%3d/%d  %-13s  %s:%d  %s: %s%s  %.1f s\n",
		done, count, r.Verdict, r.File, r.Line, r.Kind, r.Text, by, r.Seconds)
}

// print prints the survivors, the tables and the score.
func (r report) print(out io.Writer) {
	if r.Survived > 0 {
		fmt.Fprint(out, "\nSurvivors: each wants a test, or an entry in "+equivalentsFile+" (its first line is given)\n")
	}
	for _, c := range r.Changes {
		if c.Verdict == survived {
			changed := strings.TrimRight(c.New, " \t")
			fmt.Fprintf(out, "\n%s:%d  %s\n-%s\n+%s\n%s\n", c.File, c.Line, c.Kind, c.Old, changed, c.ID)
		}
	}
	r.table(out, "kind", func(c result) string { return c.Kind })
	r.table(out, "package", func(c result) string { return c.Package })
	printStale(out, r.Stale)
	tested := r.Caught + r.Survived
	fmt.Fprintf(out, "\ncaught %d of %d changes: %.1f %%  (seed %d; %d caught by time; %d not compiling, replaced)\n",
		r.Caught, tested, r.Score, r.Seed, r.TimedOut, r.NotCompiling)
	if tested < r.wanted && !r.interrupted {
		fmt.Fprintf(out, "%d changes were asked for; there are no more\n", r.wanted)
	}
}

// table prints the figures for each value of a key, those caught least first.
func (r report) table(out io.Writer, title string, key func(result) string) {
	type row struct{ caught, survived, notCompiling int }
	rows := map[string]*row{}
	for _, c := range r.Changes {
		k := key(c)
		if rows[k] == nil {
			rows[k] = &row{}
		}
		switch c.Verdict {
		case caught:
			rows[k].caught++
		case survived:
			rows[k].survived++
		case notCompiling:
			rows[k].notCompiling++
		}
	}
	score := func(k string) float64 { return percent(rows[k].caught, rows[k].caught+rows[k].survived) }
	before := func(a, b string) int { return cmp.Or(cmp.Compare(score(a), score(b)), cmp.Compare(a, b)) }
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\ncaught\tsurvived\tnot compiling\t%%\t  %s\n", title)
	for _, k := range slices.SortedFunc(maps.Keys(rows), before) {
		n := rows[k]
		fmt.Fprintf(w, "%d\t%d\t%d\t%.1f\t  %s\n", n.caught, n.survived, n.notCompiling, score(k), k)
	}
	w.Flush()
}

func printStale(out io.Writer, stale []string) {
	if len(stale) > 0 {
		fmt.Fprintln(out, "\nEntries of "+equivalentsFile+" that match nothing any more: remove them, or judge anew")
	}
	for _, s := range stale {
		fmt.Fprintln(out, s)
	}
}
