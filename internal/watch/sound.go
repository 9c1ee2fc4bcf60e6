package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/data/audit"
	"konkanitrain/internal/scores"
)

const (
	mostSounds   = 2  // in hand at a time, from reading one to the end of sending it
	soundSeconds = 30 // of one
	soundWait    = 5 * time.Second
)

// soundBytes is what sounds take at most: samples of one at 48 kHz, what resampling needs, and WAV files at 16 kHz.
const soundBytes = soundSeconds * (2*4*48000 + mostSounds*2*16000)

// fileOf is a worst utterance as one of a file, for one whose set isn't loaded.
func fileOf(u *scores.Utterance) (*data.Utterance, error) {
	if !(u.Offset >= 0) || !(u.Seconds > 0) || math.IsInf(u.Offset, 0) || math.IsInf(u.Seconds, 0) {
		return nil, errors.New("its record doesn't say which part of the recording it is")
	}
	source := audio.File(u.Audio)
	info, err := audio.Probe(source)
	if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(u.Audio) {
		return nil, fmt.Errorf("%w; the path is from the folder in which training was started: start watch there to hear it", err)
	}
	if err != nil {
		return nil, err
	}
	return &data.Utterance{ID: u.ID, Offset: u.Offset, Duration: u.Seconds, Recording: &data.Recording{Source: source, Info: info}}, nil
}

// clip is an utterance as a WAV file.
func clip(u *data.Utterance) ([]byte, error) {
	var c audit.Clipper
	wav, _, err := c.Clip(u, soundSeconds)
	if err != nil {
		return nil, fmt.Errorf("it can't be read: %w", err)
	}
	return wav, nil
}
