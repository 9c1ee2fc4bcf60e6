// Package page is what pages of the program have in common: the document around what each shows, colors and type,
// tables, and a little of their scripts. A page is one HTML file that loads nothing else.
package page

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
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
	// Curves has the colors of curves, c0 to c6, for pages that draw some.
	//
	//go:embed curves.css
	Curves string
	// Parts has the colors of a network's parts, k0 to k10.
	//
	//go:embed parts.css
	Parts string
	// Script comes before a page's own: element and shape make what is shown, number writes a number, niceSpacing finds
	// the distance of an axis's marks.
	//
	//go:embed page.js
	Script string
	//go:embed document.html
	documentHTML string
	//go:embed table.html
	tableHTML string
)

// Kind is a kind of page: what all of its pages share.
type Kind struct {
	// Body is a template of what is shown, with the template "table" for a [Table].
	Body      string
	Functions template.FuncMap // of Body
	CSS       string           // all of the style
	Script    string           // all of the script, which finds the page's data as JSON in the element data; "" for none
	Media     string           // what a page shows that is not text, as its content security policy has it: "img-src data:"

	template *template.Template
}

// New is a kind of page. It panics if the body isn't a template.
func New(k Kind) *Kind {
	policy := ""
	if k.Script != "" {
		policy += "; script-src 'unsafe-inline'"
	}
	if k.Media != "" {
		policy += "; " + k.Media
	}
	t := template.Must(template.New("document").Parse(strings.Replace(documentHTML, "POLICY", policy, 1)))
	template.Must(t.Parse(tableHTML))
	template.Must(t.New("body").Funcs(k.Functions).Parse(k.Body))
	k.template = t
	return &k
}

// Write writes a page: shown is what the body is a template of, data what the script reads. Texts are shown as they
// are: none is taken for HTML. The error says that data isn't JSON, or that w takes no more.
func (k *Kind) Write(w io.Writer, title string, shown, data any) error {
	text, err := json.Marshal(data) // escapes <, > and &: no text can end the script element
	if err != nil {
		return fmt.Errorf("the page's data as JSON: %w", err)
	}
	return k.template.Execute(w, map[string]any{
		"Title": title, "CSS": template.CSS(k.CSS), "Shown": shown, "Data": template.JS(text), "Script": template.JS(k.Script),
	})
}
