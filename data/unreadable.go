package data

import (
	"fmt"
	"sync"

	"konkanitrain/data/audio"
	"konkanitrain/internal/words"
)

// findings are what reading the sound of a set has shown, beyond what the headers said when it was loaded.
type findings struct {
	mu    sync.Mutex
	notes []Note
	about map[int]bool // places of utterances
	lost  map[int]bool // of those, what can't be used
	told  int          // notes that News has given out
}

// found keeps a note about u, unless there is one already.
func (s *Set) found(u *Utterance, kind Kind, reason string, skipped bool) {
	f := &s.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.about[u.Index] {
		return
	}
	if f.about == nil {
		f.about, f.lost = map[int]bool{}, map[int]bool{}
	}
	f.about[u.Index] = true
	if skipped {
		f.lost[u.Index] = true
	}
	f.notes = append(f.notes, Note{kind, u.File, u.Line, u.ID, reason, skipped})
}

// News lists the utterances whose sound has turned out to be unusable since the last call: by the Set's loaders and by
// Statistics, each utterance once in the life of the Set. It may be called while they work.
func (s *Set) News() []Note {
	f := &s.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	news := f.notes[f.told:len(f.notes):len(f.notes)]
	f.told = len(f.notes)
	return news
}

// Outcome is the Report with what reading the sound has shown so far: utterances whose sound can't be read, or
// that have none, are named and are not among those used.
func (s *Set) Outcome() *Report {
	f := &s.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	r := s.Report.clone()
	for _, n := range f.notes {
		r.Add(n)
	}
	s.count(r, func(i int) bool { return f.lost[i] })
	return r
}

// TooManyBad is an error if the lines that Load found bad, together with the utterances whose sound turned out to be
// unreadable or missing since, are more than Options.BadLimit allows.
func (s *Set) TooManyBad() error { return s.options.checkLimit(s.Outcome()) }

// read reads the samples of u. It is an error if they aren't those that the manifest was loaded with. The samples are
// overwritten by the reader's next Read.
func (u *Utterance) read(reader *audio.Reader) (wave []float32, warnings []string, err error) {
	info, wave, err := reader.Read(u.Recording.Source, &u.Recording.Info, u.Offset, u.Duration)
	if err != nil {
		return nil, nil, err
	}
	if info.Rate != u.Rate() || info.FileSamples != u.Recording.Info.FileSamples || len(wave) != u.Samples {
		return nil, nil, fmt.Errorf("%s has %s at %d Hz, and had %d at %d Hz before; it was changed since the manifest was read",
			u.Path(), words.Count(info.FileSamples, "sample"), info.Rate, u.Recording.Info.FileSamples, u.Rate())
	}
	return wave, info.Warnings, nil
}

// silent says whether every sample is the same; the warnings about such sound say so, and why. Its features are all
// equal, and the gradients of layer norms over them so large that clipping leaves nothing of an update's others.
func silent(wave []float32) bool {
	for _, v := range wave {
		if v != wave[0] {
			return false
		}
	}
	return len(wave) > 1
}
