package data

import (
	"iter"

	"konkanitrain/data/audio"
	"konkanitrain/data/text"
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
	Index   int     // its place in the Set
	Offset  float64 // seconds into the recording
	Speaker string  // "" where the manifest has none
	File    string  // the manifest, and
	Line    int     // the line that lists the utterance

	Recording *Recording

	Duration float64 // seconds, real
	Samples  int     // of the utterance, per channel, at the recording's own rate
	Frames   int     // T, feature frames of 10 ms at speed 1

	Text   string  // normalized
	Tokens []int32 // [U], once Tokenize has run: those of Text and nothing else

	Values []string // of Options.Keys, "" where the line has none; nil where it has none at all
}

// Rate is that of the recording, in Hz.
func (u *Utterance) Rate() int { return u.Recording.Info.Rate }

// Path is what the recording is called in messages: its file, where it is one.
func (u *Utterance) Path() string { return u.Recording.Source.Name() }

// Set is the usable part of a manifest, in the manifest's order. Its utterances are packed, or were given to [NewSet];
// it may be read by several goroutines.
type Set struct {
	Path       string
	Report     *Report
	SampleRate int // Hz, that Frames counts at

	weights   []float64 // of its manifests; nil where each is 1
	rows      *rows     // nil where the utterances were given
	given     []*Utterance
	tokenizer text.Tokenizer // nil before Tokenize
	options   Options        // that it was loaded with
	findings  findings

	speeds []float64      // that Tokenize was told of, and
	fits   map[int]uint64 // by utterance, those that its text fits, where it doesn't fit all
}

// NewSet is a set of utterances that no manifest lists. Each gets its Index.
func NewSet(path string, sampleRate int, us ...*Utterance) *Set {
	s := &Set{Path: path, SampleRate: sampleRate, Report: &Report{Path: path, Lines: len(us)}, given: us}
	for i, u := range us {
		u.Index = i
	}
	s.count(s.Report, nil)
	return s
}

// Len is the number of utterances.
func (s *Set) Len() int {
	if s.rows == nil {
		return len(s.given)
	}
	return len(s.rows.places)
}

// At is utterance i, 0 <= i < Len(). Changing it changes nothing in the Set. What is needed of every utterance of a
// large set is better asked for by Frames, Tokens and Seconds, which unpack nothing.
func (s *Set) At(i int) *Utterance {
	if s.rows == nil {
		return s.given[i]
	}
	u := s.rows.utterance(i)
	u.Index = i
	if s.tokenizer != nil {
		u.Tokens = s.tokenizer.Encode(u.Text, nil)
	}
	return u
}

// All yields the utterances and their places.
func (s *Set) All() iter.Seq2[int, *Utterance] {
	return func(yield func(int, *Utterance) bool) {
		for i := range s.Len() {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// Select is the set of the utterances that keep asks for by their places. Report is shared.
func (s *Set) Select(keep func(i int) bool) *Set {
	picked := &Set{Path: s.Path, SampleRate: s.SampleRate, Report: s.Report, tokenizer: s.tokenizer, options: s.options, weights: s.weights, speeds: s.speeds, fits: map[int]uint64{}}
	var list []int
	for i := range s.Len() {
		if keep(i) {
			if fits, some := s.fits[i]; some {
				picked.fits[len(list)] = fits
			}
			list = append(list, i)
		}
	}
	if s.rows != nil {
		picked.rows = s.rows.pick(list)
		return picked
	}
	for k, i := range list {
		u := *s.given[i]
		u.Index = k
		picked.given = append(picked.given, &u)
	}
	return picked
}

// ID is the identity of utterance i.
func (s *Set) ID(i int) string {
	if s.rows == nil {
		return s.given[i].ID
	}
	return s.rows.id(i)
}

// Frames is T of utterance i at speed 1.
func (s *Set) Frames(i int) int {
	if s.rows == nil {
		return s.given[i].Frames
	}
	return int(s.rows.frames[i])
}

// Tokens is U of utterance i, 0 before Tokenize.
func (s *Set) Tokens(i int) int {
	switch {
	case s.rows == nil:
		return len(s.given[i].Tokens)
	case s.rows.tokens == nil:
		return 0
	}
	return int(s.rows.tokens[i])
}

// Duration is that of utterance i in seconds.
func (s *Set) Duration(i int) float64 {
	if s.rows == nil {
		return s.given[i].Duration
	}
	return s.rows.seconds(i)
}

// Longest is the place of the first utterance with the longest duration, -1 in an empty set.
func (s *Set) Longest() int {
	longest := -1
	for i := range s.Len() {
		if longest < 0 || s.Duration(i) > s.Duration(longest) {
			longest = i
		}
	}
	return longest
}

// key is the key of utterance i.
func (s *Set) key(i int) uint64 {
	if s.rows == nil {
		return s.given[i].Key
	}
	return s.rows.keys[i]
}

// sound is the number of samples of utterance i, and their rate in Hz.
func (s *Set) sound(i int) (samples, rate int) {
	if s.rows == nil {
		return s.given[i].Samples, s.given[i].Rate()
	}
	return int(s.rows.samples[i]), s.rows.found[s.rows.sounds[i]].Info.Rate
}

// recording is that of utterance i, nil where only its lengths are known.
func (s *Set) recording(i int) *Recording {
	if s.rows == nil {
		return s.given[i].Recording
	}
	return &s.rows.found[s.rows.sounds[i]].Recording
}

// written is how the sound of utterance i is written.
func (s *Set) written(i int) Sound {
	if s.rows != nil {
		return s.rows.written(i)
	}
	r := s.recording(i)
	if r == nil {
		return Sound{s.SampleRate, 1}
	}
	return Sound{r.Info.Rate, r.Info.Channels}
}

// written is how the sound of row i is written.
func (r *rows) written(i int) Sound {
	info := &r.found[r.sounds[i]].Info
	return Sound{info.Rate, info.Channels}
}

// Text is the normalized text of utterance i.
func (s *Set) Text(i int) string {
	if s.rows == nil {
		return s.given[i].Text
	}
	return s.rows.text(i)
}

// Texts yields the normalized texts, for text.Build.
func (s *Set) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.Len() {
			if !yield(s.Text(i)) {
				return
			}
		}
	}
}

// Seconds is the duration of all utterances together.
func (s *Set) Seconds() float64 { return s.Report.Seconds }

// count brings the sums of a report up to date with the utterances, without those that were lost.
func (s *Set) count(r *Report, lost func(i int) bool) {
	r.Kept, r.Seconds, r.Shortest, r.Longest, r.StartsWithMark = 0, 0, 0, 0, 0
	r.SampleRate, r.Sounds = s.SampleRate, map[Sound]int{}
	for i := range s.Len() {
		if lost != nil && lost(i) {
			continue
		}
		r.take(s.Duration(i), s.written(i), s.startsWithMark(i))
	}
}

// take counts an utterance that is used.
func (r *Report) take(seconds float64, written Sound, startsWithMark bool) {
	r.Kept++
	if r.Sounds == nil {
		r.Sounds = map[Sound]int{}
	}
	r.Sounds[written]++
	r.Seconds += seconds
	r.Longest = max(r.Longest, seconds)
	if r.Kept == 1 || seconds < r.Shortest {
		r.Shortest = seconds
	}
	if startsWithMark {
		r.StartsWithMark++
	}
}

// startsWithMark is text.StartsWithMark of a text.
func (s *Set) startsWithMark(i int) bool {
	if s.rows == nil {
		return text.StartsWithMark(s.given[i].Text)
	}
	return s.rows.letters.startsWithMark(s.rows.at(i).text)
}

// frames lists the feature frames T of each utterance at speed 1.
func (s *Set) frames() []int32 {
	out := make([]int32, s.Len())
	for i := range out {
		out[i] = int32(s.Frames(i))
	}
	return out
}
