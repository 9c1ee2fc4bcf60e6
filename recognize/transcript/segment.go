// Package transcript is what was recognized, with times, and the forms in which it is written: [Segment] by segment, so
// that a recording of any length is written while it is recognized. [New] makes the [Writer] of a [Format].
package transcript

// Segment is what was said in a stretch of a recording. Times are seconds from the start of the recording.
type Segment struct {
	Start        float64       `json:"start"`
	End          float64       `json:"end"`
	Text         string        `json:"text"`
	Words        []Unit        `json:"words,omitempty"`        // of Text, where they were asked for
	Characters   []Unit        `json:"characters,omitempty"`   // of Text without its spaces, where they were asked for
	Alternatives []Alternative `json:"alternatives,omitempty"` // the best hypotheses, Text's among them, the best first, where they were asked for
}

// Unit is a word or a character.
type Unit struct {
	Text       string  `json:"text"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"` // 0 to 1
}

// Alternative is a hypothesis.
type Alternative struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"` // nats: what hypotheses were ordered by; where pieces were joined, of the whole piece
}

// Shift is the segment so many seconds later: that of a piece in the recording that it was cut from. It has lists of
// its own.
func (s Segment) Shift(seconds float64) Segment {
	s.Start, s.End = s.Start+seconds, s.End+seconds
	s.Words, s.Characters = shifted(s.Words, seconds), shifted(s.Characters, seconds)
	return s
}

func shifted(units []Unit, seconds float64) []Unit {
	if units == nil {
		return nil
	}
	out := make([]Unit, len(units))
	for i, u := range units {
		u.Start, u.End = u.Start+seconds, u.End+seconds
		out[i] = u
	}
	return out
}
