// Package arenapage writes a page that shows the memory of training steps as a picture: which buffer lies where in the
// arena, from which kernel call to which, and who holds what when most of it is in use. The page is one HTML file that
// loads nothing else; without JavaScript it still shows the facts and the table of the first program.
package arenapage

import (
	_ "embed"
	"io"

	"konkanitrain/internal/page"
)

// Page is what the picture shows: the programs (batch shapes) of a plan.
type Page struct {
	Title    string
	Facts    []Fact    // shown above the picture, in this order
	Programs []Program // one or more; the reader picks one and sees the first until then
}

// Fact is a name and a value for people: "weights", "39.4 MB".
type Fact struct{ Name, Value string }

// Program is one step of training, or one pass, in planned memory.
type Program struct {
	Name    string   // "2 rows of 8.0 s, 80 tokens"
	Size    int64    // bytes of the arena
	Steps   []Step   // kernel calls in the order in which they run
	Buffers []Buffer // in any order
}

// Step is one kernel call.
type Step struct {
	Name     string // the op: "linear.dx"
	Place    string // where in the network its result belongs: "encoder.blocks.3.ffn1.up"; nothing behind a space is shown
	Backward bool   // it belongs to the backward pass
}

// Buffer is a part of the arena that holds data from its first to its last step, both included.
type Buffer struct {
	Name         string // its place in the network, and behind a space what else tells it from others there
	Offset, Size int64  // bytes
	First        int    // the step that writes it; -1 for what is given before the first step
	Last         int    // the last step that reads it; len(Steps) or more for what is read after the run
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	ownCSS string
	//go:embed chart.js
	chartJS string
	//go:embed table.js
	tableJS string
	//go:embed page.js
	pageJS string

	pageCSS = page.CSS + page.Parts + ownCSS
)

var kind = page.New(page.Kind{Body: pageHTML, CSS: pageCSS, Script: page.Script + chartJS + tableJS + pageJS})

// Write writes the page. The error says what in p contradicts itself, or that w takes no more. All texts of p are
// shown as they are: none is taken for HTML.
func Write(w io.Writer, p Page) error {
	if err := p.check(); err != nil {
		return err
	}
	first := p.Programs[0]
	shown := map[string]any{"Title": p.Title, "Facts": p.Facts, "Table": summarize(first, peak(first.live()))}
	return kind.Write(w, p.Title, shown, encode(p.Programs))
}
