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

	From Rest // where to begin: at the start, or where Output.Through was told by an earlier process that it can be gone on
}

// Rest is the part of a recording that is still to be given: it begins with a piece. Its JSON is read back to the bit.
type Rest struct {
	Sample int                 `json:"sample"`         // where the piece begins, at the model's rate
	Joined int                 `json:"joined"`         // samples that it shares with the piece before; 0 behind a pause
	Held   *transcript.Segment `json:"held,omitempty"` // what of the piece before is still to be given, where they share some
	Said   bool                `json:"said"`           // there is a segment before it
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
	// Through says from where the recording can be gone on with behind what has been given: see Recording.From.
	Through(r Rest) error
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
