package transcript

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// ctmWriter writes NIST's time-marked words: the recording is called by its Name, or by its file's name without folder
// and extension, where spaces become _, and so does a ; in front, with which a comment would begin; the channel is 1.
type ctmWriter struct{ output }

func (w *ctmWriter) Begin(r Recording) error {
	w.begin(r)
	return nil
}

// name is what the recording is called.
func (w *ctmWriter) name() string {
	r := w.mark.Recording
	return cmp.Or(r.Name, word(withoutEnding(filepath.Base(r.Path))))
}

func (w *ctmWriter) Segment(s Segment) error {
	name := w.name()
	for _, x := range s.Words {
		fmt.Fprintf(w.Writer, "%s 1 %.3f %.3f %s %.3f\n", name, x.Start, x.End-x.Start, x.Text, x.Confidence)
	}
	return w.Flush()
}

func (w *ctmWriter) End() error {
	w.end()
	return nil
}

// gridWriter writes Praat's TextGrid in its long text form: intervals of words and of characters from 0 to the end of
// the recording, with empty ones between.
type gridWriter struct {
	output
	words, characters []Unit
}

func (w *gridWriter) Begin(r Recording) error {
	w.begin(r)
	w.words, w.characters = w.words[:0], w.characters[:0]
	return nil
}

func (w *gridWriter) Segment(s Segment) error {
	w.words, w.characters = append(w.words, s.Words...), append(w.characters, s.Characters...)
	return nil
}

func (w *gridWriter) End() error {
	w.end()
	end := w.mark.Recording.Duration
	for _, tier := range [][]Unit{w.words, w.characters} {
		if n := len(tier); n > 0 {
			end = max(end, tier[n-1].End)
		}
	}
	fmt.Fprintf(w.Writer, "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0\nxmax = %.3f\ntiers? <exists>\nsize = 2\nitem []:\n", end)
	w.tier(1, "words", w.words, end)
	w.tier(2, "characters", w.characters, end)
	return w.Flush()
}

func (w *gridWriter) tier(n int, name string, units []Unit, end float64) {
	intervals := filled(units, end)
	fmt.Fprintf(w.Writer, "    item [%d]:\n        class = \"IntervalTier\"\n        name = \"%s\"\n        xmin = 0\n        xmax = %.3f\n        intervals: size = %d\n",
		n, name, end, len(intervals))
	for i, x := range intervals {
		fmt.Fprintf(w.Writer, "        intervals [%d]:\n            xmin = %.3f\n            xmax = %.3f\n            text = \"%s\"\n",
			i+1, x.Start, x.End, strings.ReplaceAll(x.Text, `"`, `""`))
	}
}

// filled is the units with empty ones between them, from 0 to the end: each begins where the one before it ends. Times
// are those that are written, to a millisecond; what would take no time is left out.
func filled(units []Unit, end float64) (out []Unit) {
	at := 0.0
	for _, u := range units {
		start, stop := max(round(u.Start), at), round(u.End)
		if stop <= start {
			continue
		}
		if start > at {
			out = append(out, Unit{Start: at, End: start})
		}
		out = append(out, Unit{Text: u.Text, Start: start, End: stop})
		at = stop
	}
	if end = round(end); end > at || len(out) == 0 {
		out = append(out, Unit{Start: at, End: end})
	}
	return out
}
