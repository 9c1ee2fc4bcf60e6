package train

import (
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// statusLine is the last line of a terminal, which is written over and over. It is cut to the terminal's width,
// whatever that is when it is drawn: a line that wraps could not be written over.
type statusLine struct {
	out   io.Writer
	width func() int // of the terminal, in columns
	parts []string   // of the line, the most important first
	done  float64    // share of the run
	shown int        // columns that are on the screen now
	drawn time.Time
}

const (
	usualWidth = 80                     // of a terminal that doesn't say
	drawEvery  = 100 * time.Millisecond // at most, where nothing but the number of the update is new
	widestBar  = 30                     // columns
	leastBar   = 10
)

// newStatusLine is for a terminal; nil where out is none.
func newStatusLine(out io.Writer) *statusLine {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &statusLine{out: out, width: func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return usualWidth
	}}
}

// set shows other parts. Unless it is urgent, it may wait for the next time.
func (l *statusLine) set(parts []string, done float64, urgent bool) {
	l.parts, l.done = parts, done
	if urgent || time.Since(l.drawn) >= drawEvery {
		l.draw()
	}
}

// draw writes the line in place of the one that is there. The last column stays free: some terminals wrap once it is
// filled.
func (l *statusLine) draw() {
	room := l.width() - 1
	text := l.text(room)
	over := max(0, min(l.shown, room)-len(text)) // what is left of a longer one
	_, _ = io.WriteString(l.out, "\r"+text+strings.Repeat(" ", over)+strings.Repeat("\b", over))
	l.shown, l.drawn = len(text), time.Now()
}

// text is the line for so many columns: as many parts as there is room for, and a bar where there is more.
func (l *statusLine) text(room int) string {
	text := ""
	for i, part := range l.parts {
		if i > 0 {
			part = "  " + part
		}
		if len(text)+len(part) > room {
			break
		}
		text += part
	}
	if text == "" && len(l.parts) > 0 {
		text = l.parts[0][:max(0, min(room, len(l.parts[0])))]
	}
	if bar := min(widestBar, room-len(text)-len("[]  ")); bar >= leastBar && text != "" {
		full := min(bar, int(l.done*float64(bar)))
		text = "[" + strings.Repeat("=", full) + strings.Repeat(" ", bar-full) + "]  " + text
	}
	return text
}

// clear takes the line away.
func (l *statusLine) clear() {
	if l.shown > 0 {
		_, _ = io.WriteString(l.out, "\r"+strings.Repeat(" ", max(0, min(l.shown, l.width()-1)))+"\r")
		l.shown = 0
	}
}
