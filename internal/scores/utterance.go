package scores

import "konkanitrain/data/text"

// Utterance is one utterance that was scored: where it is, what was said and what was recognized.
type Utterance struct {
	ID       string  `json:"id"`
	Manifest string  `json:"manifest"` // the list that has it, in
	Line     int     `json:"line"`     // this line
	Audio    string  `json:"audio"`    // what its recording is called: the file, where it is one
	Offset   float64 `json:"offset"`   // seconds into the recording
	Seconds  float64 `json:"seconds"`  // of sound
	Speaker  string  `json:"speaker,omitempty"`

	Reference  string      `json:"reference"`
	Hypothesis string      `json:"hypothesis"`
	Words      text.Counts `json:"words"` // errors of words
	Chars      text.Counts `json:"chars"` // of code points, spaces included
	Loss       *float64    `json:"loss"`  // nats; nil where it is no finite number
}
