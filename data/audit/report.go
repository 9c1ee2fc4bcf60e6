package audit

import (
	"konkanitrain/data"
)

// Role is what a set is for.
type Role string

// The roles of sets.
const (
	Train   Role = "train"
	HeldOut Role = "held_out" // validation and test
)

// Report is what an audit has found.
type Report struct {
	Findings []Finding `json:"findings"` // the gravest first
	Sets     []Set     `json:"sets"`
	Overlaps []Overlap `json:"overlaps"`
	Alphabet Alphabet  `json:"alphabet"`
	Notes    []string  `json:"notes"` // of whole files, and what was not looked at, and why
}

// Count is the number of findings of a grade.
func (r *Report) Count(g Grade) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Grade == g {
			n++
		}
	}
	return n
}

// Grade is how grave a finding is.
type Grade string

// The grades, the gravest first.
const (
	Fault  Grade = "fault"  // wrong, whatever the set is for
	Doubt  Grade = "doubt"  // probably wrong: look at it
	Remark Grade = "remark" // good to know
)

// Finding is one sort of thing to look at.
type Finding struct {
	Kind  string `json:"kind"` // a name for programs
	Grade Grade  `json:"grade"`
	Count int    `json:"count"` // of what the title speaks of
	Title string `json:"title"` // a sentence
	Items []Item `json:"items"` // the worst first, at most MostItems
}

// MostItems is how many items a finding names.
const MostItems = 1000

// Item is an utterance, or a line that is no utterance, that a finding is about.
type Item struct {
	Set     string  `json:"set"` // the manifest
	File    string  `json:"file"`
	Line    int     `json:"line"`
	ID      string  `json:"id"`
	Sound   string  `json:"sound"`   // path; "" where there is no sound
	Seconds float64 `json:"seconds"` // of sound; 0 where there is none
	Text    string  `json:"text"`
	Detail  string  `json:"detail"` // what is wrong with this one
	Score   float64 `json:"score"`  // by which items are in order: the larger the worse

	Utterance *data.Utterance `json:"-"` // nil where the line is no utterance

	at int // the entry's number, or else the line
}

// Set is the figures of one manifest.
type Set struct {
	Path       string       `json:"path"`
	Role       Role         `json:"role"`
	Lines      int          `json:"lines"`
	Used       int          `json:"used"`
	Seconds    float64      `json:"seconds"` // of the utterances used, as is all that follows
	Recordings int          `json:"recordings"`
	Speakers   int          `json:"speakers"`
	Rates      []Share      `json:"rates"` // Hz
	Channels   []Share      `json:"channels"`
	Formats    []Share      `json:"formats"`
	LeftOut    []Share      `json:"left_out"` // lines, by why
	Texts      Texts        `json:"texts"`
	Length     Distribution `json:"length"`  // seconds
	Letters    Distribution `json:"letters"` // in a text
	Rate       Distribution `json:"rate"`    // letters a second
	Heard      int          `json:"heard"`   // utterances whose sound was read, of which the rest speaks
	Level      Distribution `json:"level"`   // dBFS
	Silence    Distribution `json:"silence"` // share of silent frames
	Leading    Distribution `json:"leading"` // seconds
	Trailing   Distribution `json:"trailing"`
	Clipped    int          `json:"clipped"`    // utterances with any clipped sample
	LargestDC  float64      `json:"largest_dc"` // largest magnitude of an offset
}

// Share is how much of a set has a value.
type Share struct {
	Value   string  `json:"value"`
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
}

// Texts are those of a set.
type Texts struct {
	Different int          `json:"different"`
	Words     int          `json:"words"`
	Letters   int          `json:"letters"`
	Repeated  []RepeatText `json:"repeated"` // those that stand most often, 2 times or more
}

// RepeatText is a text with the number of utterances that have it.
type RepeatText struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Overlap is what two sets have in common: utterances of the second set whose sound, text or speaker is in the first.
type Overlap struct {
	First    string   `json:"first"`
	Second   string   `json:"second"`
	Of       int      `json:"of"` // utterances of the second set
	Sound    int      `json:"sound"`
	Text     int      `json:"text"`
	Speaker  int      `json:"speaker"`
	Speakers []string `json:"speakers"` // that are in both
}

// Alphabet is the characters of all sets.
type Alphabet struct {
	Characters []Character `json:"characters"` // in code point order
	Scripts    []Script    `json:"scripts"`    // with most letters first
}

// Character is one with how often it occurs.
type Character struct {
	Char    string  `json:"char"`
	Code    string  `json:"code"` // U+0915
	Script  string  `json:"script"`
	Train   int     `json:"train"`
	HeldOut int     `json:"held_out"`
	Lines   []Place `json:"lines"` // of a rare character, at most 5
}

// Place is a line of a manifest.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Script is one with how much is written in it.
type Script struct {
	Name       string `json:"name"`
	Letters    int    `json:"letters"`
	Utterances int    `json:"utterances"`
}
