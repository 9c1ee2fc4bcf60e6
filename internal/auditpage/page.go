// Package auditpage writes a page that shows what was found in sets of recordings: findings that can be heard and read,
// histograms, and tables of figures. The page is one HTML file that loads nothing else; without JavaScript it shows all
// but the histograms.
package auditpage

import (
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"

	"konkanitrain/internal/page"
)

// Page is what is shown, from top to bottom. All of it is for people: numbers are texts with their units.
type Page struct {
	Title    string
	Verdict  string
	Findings []Finding // the gravest first
	Hearing  string    // what is said of what training hears, in a sentence; "" where nothing is
	Heard    []Heard   // what it hears
	Sets     []Set
	Tables   []Table
	Notes    []string
}

// Finding is one sort of thing to look at.
type Finding struct {
	Grade string // fault, doubt or remark
	Title string
	Count int    // of items, those that are not here included
	Items []Item // at most MostItems are shown
}

// MostItems is how many items of a finding a page shows.
const MostItems = 40

// Item is an utterance, or a line of a list.
type Item struct {
	Where  string // file and line
	Name   string // the utterance's identity
	Length string
	Detail string // why it is here
	Text   string // the reference
	Sound  []byte // a WAV file; nil where there is none
	Cut    string // what is said of a sound that is not whole; "" of others
}

// Heard is an utterance as training hears it.
type Heard struct {
	Where    string // file and line
	Name     string // the utterance's identity
	Length   string
	Text     string // the reference
	Versions []Version
}

// Version is an utterance after some changes.
type Version struct {
	Title   string
	Drawn   string // what was done to it
	Sound   []byte // a WAV file; nil where there is none
	Picture []byte // a PNG file of the features; nil where there is none
	Cut     string // what is said of a version that is not whole; "" of others
}

// Set is what is drawn of a set.
type Set struct {
	Name   string
	Charts []Chart
}

// Chart is a histogram: Counts[i] is of values from From + i Step to below From + (i+1) Step.
type Chart struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`
	Facts  string  `json:"facts"` // quantiles, in words
	From   float64 `json:"from"`
	Step   float64 `json:"step"`
	Counts []int   `json:"counts"`
	Below  int     `json:"below"` // values under the first step
	Above  int     `json:"above"` // values over the last one
}

// Table is a table. The first cell of a row is its name.
type Table = page.Table

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	ownCSS string
	//go:embed page.js
	ownJS string

	pageCSS = page.CSS + ownCSS
	pageJS  = page.Script + ownJS
)

var kind = page.New(page.Kind{
	Body: pageHTML, CSS: pageCSS, Script: pageJS, Media: "img-src data:; media-src data:",
	Functions: template.FuncMap{"sound": soundURL, "picture": pictureURL, "more": more},
})

// Write writes the page. The error says that w takes no more. All texts of p are shown as they are: none is taken for
// HTML.
func Write(w io.Writer, p Page) error {
	charts := make([][]Chart, len(p.Sets))
	for i, s := range p.Sets {
		charts[i] = s.Charts
	}
	p.Findings = slices.Clone(p.Findings)
	for i := range p.Findings {
		f := &p.Findings[i]
		f.Items = f.Items[:min(len(f.Items), MostItems)]
	}
	return kind.Write(w, p.Title, p, charts)
}

// soundURL is a WAV file as a URL of itself.
func soundURL(wav []byte) template.URL {
	return template.URL("data:audio/wav;base64," + base64.StdEncoding.EncodeToString(wav))
}

// pictureURL is a PNG file as a URL of itself.
func pictureURL(png []byte) template.URL {
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(png))
}

// SoundBytes is how many bytes a sound takes in the page: base64, in which the template writes a + as &#43;.
func SoundBytes(wav []byte) int {
	text := base64.StdEncoding.EncodeToString(wav)
	return len(text) + strings.Count(text, "+")*(len("&#43;")-1)
}

// more counts the items that a page doesn't show.
func more(f Finding) int {
	if len(f.Items) == 0 {
		return 0 // the title says all
	}
	return max(f.Count-len(f.Items), 0)
}
