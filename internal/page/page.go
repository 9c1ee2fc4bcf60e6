// Package page is what pages of the program have in common: colors and type, tables, and a little of their scripts. A
// page is one HTML file that loads nothing else.
package page

import (
	_ "embed"
	"html/template"
)

// Table is a table. The first cell of a row is its name.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	More  string // what is said below it
}

var (
	// CSS is the style of all pages, which comes before a page's own. Colors are variables: page, ink, quiet, line, free,
	// accent and peak.
	//
	//go:embed page.css
	CSS string
	// Script comes before a page's own: element and shape make what is shown, number writes a number, niceSpacing finds
	// the distance of an axis's marks.
	//
	//go:embed page.js
	Script string
	//go:embed table.html
	tableHTML string
)

// Template is a page's template, with "table" in it for a [Table]. It panics if html isn't a template.
func Template(html string, functions template.FuncMap) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(functions).Parse(tableHTML)).Parse(html))
}
