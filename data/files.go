package data

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/internal/philox"
)

// File is a recording that is to be transcribed: there is no manifest that lists it, and no text.
type File struct {
	Path      string
	Utterance *Utterance // nil where Err says why it can't be used
	Err       error      // names the file
}

var errTooShort = errors.New("it is too short for a single feature frame")

// Files reads the headers of recordings and says how many feature frames each gives at a sample rate, in Hz. A file
// that can't be used is no error of Files. Where the context ends first, the error is its cause.
func Files(ctx context.Context, paths []string, sampleRate int) ([]File, error) {
	files := make([]File, len(paths))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(Options{}.withDefaults().Workers, len(paths)) {
		wait.Go(func() {
			for i := int(next.Add(1) - 1); i < len(paths) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				files[i] = openFile(paths[i], sampleRate)
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return files, nil
}

func openFile(path string, sampleRate int) File {
	info, err := audio.Probe(audio.File(path))
	if err != nil {
		return File{Path: path, Err: err}
	}
	u := &Utterance{
		ID: path, Key: philox.ID(path), Recording: &Recording{audio.File(path), info}, Samples: info.Samples, Duration: info.Seconds(),
	}
	u.Frames, err = (feature.Options{SampleRate: sampleRate}).Frames(u.Samples, u.Rate(), audio.Ratio{})
	if err == nil && u.Frames < 1 {
		err = errTooShort
	}
	if err != nil {
		return File{Path: path, Err: fmt.Errorf("%s: %w", path, err)}
	}
	return File{Path: path, Utterance: u}
}

// FileSet is the set of those files that can be used, for a [Loader]: sound without text.
func FileSet(files []File, sampleRate int) *Set {
	var us []*Utterance
	for _, f := range files {
		if f.Utterance != nil {
			us = append(us, f.Utterance)
		}
	}
	s := NewSet("files", sampleRate, us...)
	s.Report.Lines = len(files)
	return s
}
