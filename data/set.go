package data

import (
	"iter"

	"konkanitrain/data/audio"
)

// Recording is sound that a manifest names. The utterances that are parts of it share it.
type Recording struct {
	Source audio.Source
	Info   audio.Info // of the whole, as it was when the manifest was loaded
}

// Utterance is a recording, or a part of one, with its transcript.
type Utterance struct {
	ID      string  // identity: the id key, or else the audio path as written (and the offset)
	Key     uint64  // philox.ID of ID, for the keys of random draws
	Offset  float64 // seconds into the recording
	Speaker string  // "" where the manifest has none
	File    string  // the manifest, and
	Line    int     // the line that lists the utterance

	Recording *Recording

	Duration float64 // seconds, real
	Samples  int     // of the utterance, per channel, at the recording's own rate
	Frames   int     // T, feature frames of 10 ms at speed 1

	Text   string  // normalized
	Tokens []int32 // [U], by Tokenize: the characters of Text and nothing else
}

// Rate is that of the recording, in Hz.
func (u *Utterance) Rate() int { return u.Recording.Info.Rate }

// Path is what the recording is called in messages: its file, where it is one.
func (u *Utterance) Path() string { return u.Recording.Source.Name() }

// Set is the usable part of a manifest, in the manifest's order.
type Set struct {
	Path       string
	Utterances []*Utterance
	Report     *Report
	SampleRate int // Hz, that Frames counts at

	options  Options // that it was loaded with
	findings findings
}

// Texts yields the normalized texts, for text.Build.
func (s *Set) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, u := range s.Utterances {
			if !yield(u.Text) {
				return
			}
		}
	}
}

// Seconds is the duration of all utterances together.
func (s *Set) Seconds() float64 { return s.Report.Seconds }

// frames lists the feature frames T of each utterance at speed 1.
func (s *Set) frames() []int {
	out := make([]int, len(s.Utterances))
	for i, u := range s.Utterances {
		out[i] = u.Frames
	}
	return out
}
