package transcript

import (
	"bytes"
	"encoding/json"
	"math"
)

// jsonWriter writes one list with an object for each recording: path, duration and segments.
type jsonWriter struct{ output }

func (w *jsonWriter) Begin(r Recording) error {
	before := ",\n"
	if w.mark.Recordings == 0 {
		before = "[\n"
	}
	w.begin(r)
	head, err := encoded(struct {
		Path     string  `json:"path"`
		Duration float64 `json:"duration"`
	}{r.Path, round(r.Duration)})
	if err != nil {
		return err
	}
	return w.print("%s%s,\"segments\":[", before, bytes.TrimSuffix(head, []byte("}")))
}

func (w *jsonWriter) Segment(s Segment) error {
	b, err := encoded(s.rounded())
	if err != nil {
		return err
	}
	before := "\n "
	if w.mark.Segments > 0 {
		before = ",\n "
	}
	w.mark.Segments++
	return w.print("%s%s", before, b)
}

func (w *jsonWriter) End() error {
	w.end()
	return w.print("]}")
}

func (w *jsonWriter) Close() error {
	if w.mark.Recordings == 0 {
		return w.print("[]\n")
	}
	return w.print("\n]\n")
}

// jsonlWriter writes a line for each segment.
type jsonlWriter struct{ output }

func (w *jsonlWriter) Begin(r Recording) error {
	w.begin(r)
	return nil
}

func (w *jsonlWriter) Segment(s Segment) error {
	b, err := encoded(struct {
		Path string `json:"path"`
		Segment
	}{w.mark.Recording.Path, s.rounded()})
	if err != nil {
		return err
	}
	return w.print("%s\n", b)
}

func (w *jsonlWriter) End() error {
	w.end()
	return nil
}

// encoded is JSON in one line, with letters as they are.
func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// rounded is the segment as it is written: times to a millisecond, confidences to a thousandth, scores to a hundredth.
func (s Segment) rounded() Segment {
	s.Start, s.End = round(s.Start), round(s.End)
	s.Words, s.Characters = roundedUnits(s.Words), roundedUnits(s.Characters)
	if s.Alternatives != nil {
		list := make([]Alternative, len(s.Alternatives))
		for i, a := range s.Alternatives {
			list[i] = Alternative{a.Text, math.Round(100*a.Score) / 100}
		}
		s.Alternatives = list
	}
	return s
}

func roundedUnits(units []Unit) []Unit {
	out := shifted(units, 0)
	for i := range out {
		u := &out[i]
		u.Start, u.End, u.Confidence = round(u.Start), round(u.End), round(u.Confidence)
	}
	return out
}

// round is x to a thousandth.
func round(x float64) float64 { return math.Round(1000*x) / 1000 }
