package recognize

import (
	"konkanitrain/internal/scores"
	"konkanitrain/recognize/decode"
	"konkanitrain/recognize/transcript"
)

// Judge gathers words with their confidences, and whether they were right.
type Judge struct{ words []decode.Judged }

// Add takes in the words of an utterance that was recognized with [Decoding].Units.
func (j *Judge) Add(h Hypothesis) {
	if h.Err == nil {
		j.add(h.Ref, h.Text, h.Segment.Words)
	}
}

// add takes in the words of a text. A word is right where the alignment with the fewest errors puts it against the same
// word. A text whose words have no times is passed over.
func (j *Judge) add(ref, hyp string, words []transcript.Unit) {
	i := 0
	var judged []decode.Judged
	for _, p := range scores.AlignWords(ref, hyp) {
		if p.Hyp == "" {
			continue
		}
		if i < len(words) {
			judged = append(judged, decode.Judged{Confidence: words[i].Confidence, Right: p.Edit() == scores.Same})
		}
		i++
	}
	if i == len(words) {
		j.words = append(j.words, judged...)
	}
}

// Calibrate finds the calibration of what was gathered.
func (j *Judge) Calibrate() (Calibration, error) { return decode.Calibrate(j.words) }

// Reliability compares confidences with how often they were right, as they are, or as a calibration makes them; nil
// leaves them.
func (j *Judge) Reliability(c *Calibration) *Reliability {
	words := j.words
	if c != nil {
		words = make([]decode.Judged, len(j.words))
		for i, w := range j.words {
			words[i] = decode.Judged{Confidence: c.Apply(w.Confidence), Right: w.Right}
		}
	}
	return decode.NewReliability(words, bins)
}

// bins is how many classes of confidence a table has.
const bins = 10

// Reliability is how good confidences are; see [decode.Reliability].
type Reliability = decode.Reliability
