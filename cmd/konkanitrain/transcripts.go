package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/recognize/transcript"
)

// transcripts writes what was recognized, and names what could not be.
type transcripts struct {
	w           transcript.Writer
	err         io.Writer
	done        string // to each, in messages
	all, failed int
	format      transcript.Format
	names       transcript.Names
}

// newTranscripts writes to standard output, or into a folder where one is given.
func newTranscripts(f transcript.Format, dir, done string, s streams) (*transcripts, error) {
	if dir != "" {
		if err := writable("output", dir); err != nil {
			return nil, err
		}
		return &transcripts{w: transcript.NewFolder(f, dir), err: s.err, done: done, format: f}, nil
	}
	w, err := transcript.New(f, s.out)
	return &transcripts{w: w, err: s.err, done: done, format: f}, err
}

// add writes a transcript.
func (o *transcripts) add(t recognize.Transcript) error {
	o.all++
	err := t.Err
	if err != nil && !strings.Contains(err.Error(), t.Path) {
		err = fmt.Errorf("%s: %w", t.Path, err)
	}
	if err == nil {
		err = o.w.Begin(named(transcript.Recording{Path: t.Path, Duration: t.Duration, Part: t.Part}, o.format, &o.names))
		if err != nil && !errors.Is(err, transcript.ErrTwice) {
			return err
		}
	}
	if err != nil {
		o.failed++
		fmt.Fprintf(o.err, "konkanitrain: %v\n", err)
		return nil
	}
	for _, s := range t.Segments {
		if err := o.w.Segment(s); err != nil {
			return err
		}
	}
	return o.w.End()
}

// end closes the writer, after a command that came to err. Files that could not be used are an error of their own.
func (o *transcripts) end(err error) error {
	if e := o.w.Close(); err == nil {
		err = e
	}
	sayNames(&o.names, o.err)
	if err == nil && o.failed > 0 {
		err = fmt.Errorf("%d of %s could not be %s", o.failed, words.Count(o.all, "file"), o.done)
	}
	return err
}
