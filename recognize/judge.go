package recognize

import (
	"fmt"
	"strings"

	"konkanitrain/internal/scores"
	"konkanitrain/internal/words"
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
func (j *Judge) add(ref, hyp string, heard []transcript.Unit) {
	i := 0
	var judged []decode.Judged
	for _, p := range scores.AlignWords(ref, hyp) {
		if p.Hyp == "" {
			continue
		}
		if i < len(heard) {
			judged = append(judged, decode.Judged{Confidence: heard[i].Confidence, Right: p.Edit() == scores.Same})
		}
		i++
	}
	if i == len(heard) {
		j.words = append(j.words, judged...)
	}
}

// Calibrate finds the calibration of what was gathered.
func (j *Judge) Calibrate() (Calibration, error) { return decode.Calibrate(j.words) }

// Confidences is what a set says of the confidences of words.
type Confidences struct {
	Words int `json:"words"` // that were recognized, and judged
	// Calibration is that of greedy decoding with the weights that were scored; nil: there is none, and Why says why.
	Calibration *Calibration `json:"calibration,omitempty"`
	Why         string       `json:"why,omitempty"`
}

// Confidences calibrates what was gathered.
func (j *Judge) Confidences() *Confidences {
	c, err := j.Calibrate()
	if err != nil {
		return &Confidences{Words: len(j.words), Why: strings.TrimPrefix(err.Error(), "calibration: ")}
	}
	return &Confidences{Words: len(j.words), Calibration: &c}
}

// String says whether confidences are calibrated.
func (c *Confidences) String() string {
	if c.Calibration == nil {
		return "not calibrated: " + c.Why
	}
	return fmt.Sprintf("calibrated on %s (slope %.4f, offset %.4f)", words.Count(c.Words, "word"), c.Calibration.Slope, c.Calibration.Offset)
}

// Reliability compares confidences with how often they were right, as they are, or as a calibration makes them; nil
// leaves them.
func (j *Judge) Reliability(c *Calibration) *Reliability {
	list := j.words
	if c != nil {
		list = make([]decode.Judged, len(j.words))
		for i, w := range j.words {
			list[i] = decode.Judged{Confidence: c.Apply(w.Confidence), Right: w.Right}
		}
	}
	return decode.NewReliability(list, bins)
}

// bins is how many classes of confidence a table has.
const bins = 10

// Reliability is how good confidences are; see [decode.Reliability].
type Reliability = decode.Reliability
