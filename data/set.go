package data

import "iter"

// Utterance is a recording, or a part of one, with its transcript.
type Utterance struct {
	ID      string  // identity: the id key, or else the audio path as written (and the offset)
	Key     uint64  // philox.ID of ID, for the keys of random draws
	Path    string  // the file
	Offset  float64 // seconds into the file
	Speaker string  // "" where the manifest has none
	File    string  // the manifest, and
	Line    int     // the line that lists the utterance

	Duration float64 // seconds, real
	Samples  int     // of the utterance, per channel, at the file's own rate
	Rate     int     // Hz, of the file
	Frames   int     // T, feature frames of 10 ms at speed 1

	Text   string  // normalized
	Tokens []int32 // [U], by Tokenize: the characters of Text and nothing else

	fileSamples int // per channel, of the whole file, when the manifest was loaded
}

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
