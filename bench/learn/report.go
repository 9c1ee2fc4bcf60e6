package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"konkanitrain/internal/learnpage"
)

// names are the recipes of a sheet, in its order.
func (s *sheet) names() []string {
	var list []string
	for _, r := range s.Recipes {
		list = append(list, r.Name)
	}
	return list
}

// pageOf is what came of recipes, as a page: curves of each task, and all tables.
func pageOf(sections []section) learnpage.Page {
	p := learnpage.Page{Title: "Learning from little", Tables: tables(sections), First: compared(sections)}
	runs, recipes := 0, map[string]bool{}
	for _, s := range sections {
		losses := learnpage.Chart{Title: "Training loss", Unit: "nats per utterance"}
		cers := learnpage.Chart{Title: "Character error rate in validation", Unit: "%"}
		for _, r := range s.rows {
			losses.Curves = append(losses.Curves, learnpage.Curve{Name: r.recipe, X: r.loss.x, Mean: r.loss.mean, Low: r.loss.low, High: r.loss.high})
			cers.Curves = append(cers.Curves, learnpage.Curve{Name: r.recipe, X: r.cers.x, Mean: r.cers.mean, Low: r.cers.low, High: r.cers.high})
			recipes[r.recipe] = true
			runs += r.runs
			if r.failed > 0 {
				p.Notes = append(p.Notes, fmt.Sprintf("%s, %s: %s", s.name, r.recipe, r.failure))
			}
			if len(r.programs) > 1 {
				p.Notes = append(p.Notes, fmt.Sprintf("%s, %s: its runs are of %d programs: %s", s.name, r.recipe, len(r.programs), strings.Join(r.programs, ", ")))
			}
		}
		p.Tasks = append(p.Tasks, learnpage.Task{Name: s.name, Charts: []learnpage.Chart{losses, cers}})
	}
	p.Summary = fmt.Sprintf("%d runs of %d recipes on %d tasks", runs, len(recipes), len(sections))
	return p
}

// compared are all recipes, those in front that others are compared with.
func compared(sections []section) []string {
	var front, all []string
	for _, s := range sections {
		for _, r := range s.rows {
			if g := r.gain; g != nil && !slices.Contains(front, g.over) {
				front = append(front, g.over)
			}
			all = append(all, r.recipe)
		}
	}
	for _, name := range all {
		if !slices.Contains(front, name) {
			front = append(front, name)
		}
	}
	return front
}

// writePage writes the page to a file.
func writePage(sections []section, path string) error {
	var text bytes.Buffer
	if err := learnpage.Write(&text, pageOf(sections)); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o666)
}
