package main

import (
	"fmt"
	"slices"
	"strings"

	"konkanitrain/internal/page"
	"konkanitrain/internal/words"
)

// measure names a section's value.
func (s *section) measure() string {
	if s.words {
		return "words right, %"
	}
	return "CER, %"
}

// plusMinus is "84.20 ± 0.61", or the mean alone of one seed.
func (s stat) plusMinus() string {
	switch s.n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.2f", s.mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.mean, s.sd)
}

// apart is the distance of the highest from the lowest value.
func (s stat) apart() string {
	if s.n < 2 {
		return ""
	}
	return fmt.Sprintf("%.2f", s.high-s.low)
}

// overview is a table with a row for each recipe and a column for each task.
func overview(sections []section) page.Table {
	t := page.Table{Title: "All tasks", Head: []string{"recipe"}, More: "Means over seeds, ± the standard deviation. " +
		"Words right are better when they are more, character error rates (CER) when they are less."}
	var recipes []string
	cells := map[string][]string{}
	for i, s := range sections {
		t.Head = append(t.Head, s.name+": "+s.measure())
		for _, r := range s.rows {
			if cells[r.recipe] == nil {
				recipes = append(recipes, r.recipe)
				cells[r.recipe] = make([]string, len(sections))
			}
			cells[r.recipe][i] = r.value.plusMinus()
		}
	}
	for _, name := range recipes {
		t.Rows = append(t.Rows, append([]string{name}, cells[name]...))
	}
	return t
}

// table is all that is known of a task's recipes.
func (s *section) table() page.Table {
	t := page.Table{Title: s.name, Head: []string{"recipe", "what", s.measure(), "spread", "gain, seed by seed", "seeds"},
		More: s.what + ". The spread is from the lowest to the highest seed; time per update is that of the processor, for all cores together."}
	var names []string // of further test sets
	for _, r := range s.rows {
		for _, m := range r.more {
			if !slices.Contains(names, m.name) {
				names = append(names, m.name)
			}
		}
	}
	for _, name := range names {
		t.Head = append(t.Head, name+": CER, %")
	}
	if s.words {
		t.Head = append(t.Head, "CER, %")
	} else {
		t.Head = append(t.Head, "WER, %")
	}
	t.Head = append(t.Head, "blank frames, %", "updates", "ms an update", "program")
	for _, r := range s.rows {
		cells := []string{r.recipe, r.what, r.value.plusMinus(), r.value.apart(), r.gain.text(), r.seeds()}
		for _, name := range names {
			cells = append(cells, r.other(name).plusMinus())
		}
		other := r.wer
		if s.words {
			other = r.cer
		}
		cells = append(cells, other.plusMinus())
		if r.blanks.n > 0 {
			cells = append(cells, fmt.Sprintf("%.0f to %.0f", r.blanks.low, r.blanks.high), fmt.Sprint(r.updates), fmt.Sprintf("%.0f", 1000*r.cpu))
		} else {
			cells = append(cells, "", "", "")
		}
		t.Rows = append(t.Rows, append(cells, strings.Join(r.programs, ", ")))
	}
	return t
}

// text is "+1.20 ± 0.40 over base".
func (g *gain) text() string {
	if g == nil {
		return ""
	}
	text := fmt.Sprintf("%+.2f", g.mean)
	if g.n > 1 {
		text += fmt.Sprintf(" ± %.2f", g.sd)
	}
	return text + " over " + g.over
}

// seeds counts those that the row's values are of, and what is missing.
func (r *row) seeds() string {
	text := fmt.Sprint(r.value.n)
	if r.failed > 0 {
		text += fmt.Sprintf(", %d runs failed", r.failed)
	}
	if r.partial > 0 {
		text += fmt.Sprintf(", %d without all folds", r.partial)
	}
	return text
}

// markdown writes tables for a page of text.
func markdown(tables []page.Table) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "## %s\n\n", t.Title)
		line := func(cells []string) {
			for i, c := range cells {
				cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", "\\|"), "\n", " ")
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		line(append([]string{}, t.Head...))
		b.WriteString(strings.Repeat("| --- ", len(t.Head)) + "|\n")
		for _, row := range t.Rows {
			line(append([]string{}, row...))
		}
		fmt.Fprintf(&b, "\n%s\n\n", strings.Join(words.Wrap(t.More, 120), "\n"))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// tables are the overview and each task's.
func tables(sections []section) []page.Table {
	list := []page.Table{overview(sections)}
	for i := range sections {
		list = append(list, sections[i].table())
	}
	return list
}
