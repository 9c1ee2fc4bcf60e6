package transcript

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A subtitle has at most two lines of so many characters and stands for at most so long: what guides for subtitles ask
// for (BBC subtitle guidelines; Netflix timed text style guide).
const (
	cueLine    = 42
	cueSeconds = 7.0
)

// cueWriter writes subtitles. A segment with words is cut into as many as it takes.
type cueWriter struct {
	output
	vtt bool
}

func (w *cueWriter) Begin(r Recording) error {
	first := w.mark.Recordings == 0
	if w.begin(r); w.vtt && first {
		return w.print("WEBVTT\n\n")
	}
	return nil
}

func (w *cueWriter) Segment(s Segment) error {
	if s.Text == "" {
		return nil
	}
	for _, c := range cues(s) {
		w.mark.Cues++
		fmt.Fprintf(w.Writer, "%d\n%s --> %s\n%s\n\n", w.mark.Cues, w.clock(c.Start), w.clock(c.End), w.escaped(lines(c.Text)))
	}
	return w.Flush()
}

func (w *cueWriter) End() error {
	w.end()
	return nil
}

// clock is hours, minutes, seconds and milliseconds.
func (w *cueWriter) clock(seconds float64) string {
	ms := int64(math.Round(1000 * max(seconds, 0)))
	comma := ","
	if w.vtt {
		comma = "."
	}
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, comma, ms%1000)
}

// escaped is a text without what WebVTT takes for marks; SubRip has no way to say it.
func (w *cueWriter) escaped(s string) string {
	if w.vtt {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
	}
	return s
}

// cues cuts a segment between words.
func cues(s Segment) []Unit {
	if len(s.Words) == 0 {
		return []Unit{{Text: s.Text, Start: s.Start, End: s.End}}
	}
	list := []Unit{s.Words[0]}
	for _, x := range s.Words[1:] {
		last := &list[len(list)-1]
		if long := last.Text + " " + x.Text; utf8.RuneCountInString(long) <= 2*cueLine && x.End-last.Start <= cueSeconds {
			last.Text, last.End = long, x.End
			continue
		}
		list = append(list, x)
	}
	return list
}

// lines cuts a text that is too long for a line near its middle.
func lines(text string) string {
	if utf8.RuneCountInString(text) <= cueLine {
		return text
	}
	best, at := math.MaxInt, -1
	for i, r := range text {
		if r != ' ' {
			continue
		}
		if d := max(utf8.RuneCountInString(text[:i]), utf8.RuneCountInString(text[i+1:])); d < best {
			best, at = d, i
		}
	}
	if at < 0 {
		return text
	}
	return text[:at] + "\n" + text[at+1:]
}
