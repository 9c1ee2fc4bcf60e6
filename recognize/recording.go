package recognize

import (
	"io"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/recognize/transcript"
)

// Recording is sound of any length that is to be transcribed.
type Recording struct {
	Name   string       // what its transcript and messages call it
	Source audio.Source // nil: it comes through Pipe
	Known  *audio.Info  // what is known of it already, or nil

	Offset, Duration float64 // seconds: the part that is meant; a Duration of 0 is to the end

	Pipe  io.Reader
	Spool audio.Spool // for what of a pipe can't be read as it comes

	// From is the sample, at the model's rate, to begin at: 0, or what Output.Through was told by an earlier process.
	From int
}

// FileRecording is a file as a whole.
func FileRecording(path string) Recording { return Recording{Name: path, Source: audio.File(path)} }

// UtteranceRecording is an utterance of a manifest.
func UtteranceRecording(u *data.Utterance) Recording {
	r := Recording{Name: u.Path(), Source: u.Recording.Source, Known: &u.Recording.Info, Offset: u.Offset}
	if part := partID(u); part != "" {
		r.Name, r.Duration = part, u.Duration
	}
	return r
}

// partID is what an utterance is called that is a part of its recording, and "" if it is the whole.
func partID(u *data.Utterance) string {
	if u.Samples < u.Recording.Info.Samples {
		return u.ID
	}
	return ""
}

// open opens the sound.
func (r *Recording) open() (*audio.Track, error) {
	if r.Source == nil {
		return audio.OpenPipe(r.Name, r.Pipe, r.Spool)
	}
	return audio.OpenTrack(r.Source, r.Known, r.Offset, r.Duration)
}

// Output takes what is recognized, recording by recording in their order. An error ends the transcription.
type Output interface {
	// Begin is called before anything else of recording i, unless nothing of it can be read.
	Begin(i int, r transcript.Recording) error
	// Segment is what was said next; its times are seconds from the start of the recording. A segment without text is
	// given where there is no other.
	Segment(s transcript.Segment) error
	// Through says that all that is before a sample, at the model's rate, has been given: see Recording.From.
	Through(sample int) error
	// End ends recording i. err is what was wrong with it: what is behind that is missing.
	End(i int, err error) error
}

// Progress is how far a transcription is.
type Progress struct {
	Recordings int     // that have ended
	Current    int     // the one at hand
	Seconds    float64 // of sound that were recognized in all
	Within     float64 // of these, in the recording at hand
	Of         float64 // seconds of the recording at hand; 0: unknown
}
