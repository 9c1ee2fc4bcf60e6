package transcript

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Format is a form in which transcripts are written.
type Format string

// The formats.
const (
	Text     Format = "text"     // path, tab, text: a line for each recording
	JSON     Format = "json"     // a list of recordings with their segments
	JSONL    Format = "jsonl"    // an object a line: a segment, with its recording's path
	SRT      Format = "srt"      // SubRip's subtitles
	VTT      Format = "vtt"      // WebVTT's subtitles
	CTM      Format = "ctm"      // a line for each word: recording, channel, start, length, word, confidence (NIST)
	TextGrid Format = "textgrid" // of Praat, with tiers of words and characters
)

// Formats are all of them, as a setting lists them.
const Formats = "text|json|jsonl|srt|vtt|ctm|textgrid"

// Units says whether the format writes words with their times.
func (f Format) Units() bool { return f != Text }

// Single says that a file of this format is about one recording.
func (f Format) Single() bool { return f == SRT || f == VTT || f == TextGrid }

// Extension is the end of such a file's name, with its dot.
func (f Format) Extension() string {
	switch f {
	case Text:
		return ".txt"
	case TextGrid:
		return ".TextGrid"
	}
	return "." + string(f)
}

// Writer writes transcripts: for each recording Begin, its segments in the order of time, and End; Close at last. What
// was written is in the underlying writer after each of these calls, but for a TextGrid, which is written by End: its
// head has the number of its intervals.
type Writer interface {
	Begin(r Recording) error
	Segment(s Segment) error
	End() error
	Close() error
	// Mark is how far it is: what [Continue] needs to go on behind what was written. Not of a folder's writer.
	Mark() Mark
}

// Mark is how far a Writer is.
type Mark struct {
	Recordings int       `json:"recordings"` // that have begun
	Recording  Recording `json:"recording"`  // the last of them
	Open       bool      `json:"open"`       // it has not ended
	Segments   int       `json:"segments"`   // of it, with a text
	Cues       int       `json:"cues,omitempty"`
}

// Recording is what segments are of.
type Recording struct {
	Path     string  `json:"path"`
	Duration float64 `json:"duration"`       // seconds
	Name     string  `json:"name,omitempty"` // in a CTM, see [Names]; "": that of its file
	Part     string  `json:"part,omitempty"` // what the part of it that segments are of is called; "": it is the whole
}

// New makes the writer of a format on top of w, which Close leaves open.
func New(f Format, w io.Writer) (Writer, error) { return Continue(f, w, Mark{}) }

// Continue is New for what another Writer has begun and left at a mark. A TextGrid can't be gone on with inside a
// recording.
func Continue(f Format, w io.Writer, m Mark) (Writer, error) {
	if f == TextGrid && m.Open {
		return nil, fmt.Errorf("a TextGrid is written at the end of its recording, and %s has not ended", m.Recording.Path)
	}
	out := output{bufio.NewWriter(w), &m}
	switch f {
	case Text:
		return &textWriter{output: out}, nil
	case JSON:
		return &jsonWriter{output: out}, nil
	case JSONL:
		return &jsonlWriter{output: out}, nil
	case SRT, VTT:
		return &cueWriter{output: out, vtt: f == VTT}, nil
	case CTM:
		return &ctmWriter{output: out}, nil
	case TextGrid:
		return &gridWriter{output: out}, nil
	}
	return nil, fmt.Errorf("there is no format %q: want %s", f, strings.ReplaceAll(Formats, "|", ", "))
}

// output is what all writers have.
type output struct {
	*bufio.Writer
	mark *Mark
}

// Mark is how far it is.
func (o output) Mark() Mark { return *o.mark }

// begin marks the begin of a recording.
func (o output) begin(r Recording) {
	*o.mark = Mark{Recordings: o.mark.Recordings + 1, Recording: r, Open: true, Cues: o.mark.Cues}
}

// said marks a segment with a text.
func (o output) said(s Segment) {
	if s.Text != "" {
		o.mark.Segments++
	}
}

// end marks the end of a recording.
func (o output) end() { o.mark.Open = false }

// print writes, and flushes.
func (o output) print(format string, args ...any) error {
	fmt.Fprintf(o.Writer, format, args...) // Flush has its error
	return o.Flush()
}

// Close has nothing to add.
func (o output) Close() error { return o.Flush() }

// textWriter writes text.
type textWriter struct{ output }

func (w *textWriter) Begin(r Recording) error {
	w.begin(r)
	return w.print("%s\t", oneLine(r.Path))
}

// oneLine is a file's name with its control characters as Go writes them: a line break in it would begin another line.
func oneLine(name string) string {
	if !strings.ContainsFunc(name, unicode.IsControl) {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		_, size := utf8.DecodeRuneInString(name[i:])
		b.WriteString(name[i : i+size]) // what is no UTF-8 too
	}
	return b.String()
}

func (w *textWriter) Segment(s Segment) error {
	if s.Text == "" {
		return nil
	}
	space := ""
	if w.mark.Segments > 0 {
		space = " "
	}
	w.said(s)
	return w.print("%s%s", space, s.Text)
}

func (w *textWriter) End() error {
	w.end()
	return w.print("\n")
}
