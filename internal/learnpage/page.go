// Package learnpage writes a page that shows what recipes have come to: tables, and curves of losses and error rates
// with the spread over seeds. The page is one HTML file that loads nothing else; without JavaScript it shows all but
// the curves.
package learnpage

import (
	_ "embed"
	"fmt"
	"io"

	"konkanitrain/internal/page"
)

// Page is what is shown, from top to bottom. All of it is for people.
type Page struct {
	Title   string
	Summary string
	Tasks   []Task   // the reader picks one, and sees the first until then
	First   []string // names of curves that are in color until the reader wants others, as far as there are colors
	Tables  []page.Table
	Notes   []string
}

// Task is what is drawn of one task.
type Task struct {
	Name   string
	Charts []Chart
}

// Chart is curves over updates. Those of one name are one recipe's, in whatever chart.
type Chart struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`
	Curves []Curve `json:"curves"`
}

// Curve is a mean with the least and the greatest value of it: lists of equal length, X rising.
type Curve struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"` // updates
	Mean []float64 `json:"mean"`
	Low  []float64 `json:"low"`
	High []float64 `json:"high"`
}

// check says where a curve's lists aren't of one length, or X doesn't rise.
func (c *Curve) check() error {
	if len(c.Mean) != len(c.X) || len(c.Low) != len(c.X) || len(c.High) != len(c.X) {
		return fmt.Errorf("curve %q: %d updates, %d means, %d and %d ends of the band", c.Name, len(c.X), len(c.Mean), len(c.Low), len(c.High))
	}
	for i := 1; i < len(c.X); i++ {
		if !(c.X[i-1] < c.X[i]) {
			return fmt.Errorf("curve %q: update %v comes after %v", c.Name, c.X[i], c.X[i-1])
		}
	}
	return nil
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	ownCSS string
	//go:embed page.js
	ownJS string

	pageCSS = page.CSS + page.Curves + ownCSS
	pageJS  = page.Script + ownJS
)

var kind = page.New(page.Kind{Body: pageHTML, CSS: pageCSS, Script: pageJS})

// Write writes the page. A curve without points, and a chart without curves, is left out. The error says what is wrong
// with a curve, or that w takes no more. All texts of p are shown as they are: none is taken for HTML.
func Write(w io.Writer, p Page) error {
	charts := make([][]Chart, len(p.Tasks))
	for i, t := range p.Tasks {
		charts[i] = []Chart{} // null is nothing to a script
		for _, chart := range t.Charts {
			var drawn []Curve
			for _, c := range chart.Curves {
				if err := c.check(); err != nil {
					return fmt.Errorf("%s, %s: %w", t.Name, chart.Title, err)
				}
				if len(c.X) > 0 {
					drawn = append(drawn, c)
				}
			}
			if chart.Curves = drawn; drawn != nil {
				charts[i] = append(charts[i], chart)
			}
		}
	}
	// A value that isn't finite is no JSON, which is an error.
	return kind.Write(w, p.Title, p, map[string]any{"tasks": charts, "first": append([]string{}, p.First...)})
}
