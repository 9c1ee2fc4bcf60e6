package audio

import (
	"errors"
	"fmt"
	"io"
)

// Track is a recording, or a part of one, that is decoded once, piece by piece, in memory that doesn't depend on its
// length. One goroutine uses it.
type Track struct {
	Info Info // of what will be played; Samples is 0 where nobody knows, of a pipe

	play  func(use func(x []float32) error) (Info, error)
	close func() error
}

// TrackBytes is the most that playing a Track takes, in bytes: a decoder's state and a piece of the file as bytes, as
// integers and as samples. What is known of a compressed recording comes on top, some 4 KB for each hour.
const TrackBytes = decoderBytes + 16*pieceBytes

// OpenTrack opens the part of a recording that starts at offset and lasts duration, both in seconds; 0 for the duration
// means to the end. known is what Probe has said of the recording, or nil: then it is probed.
func OpenTrack(src Source, known *Info, offset, duration float64) (*Track, error) {
	b, err := src.Open()
	if err != nil {
		return nil, err
	}
	t, err := newTrack(b, src.Name(), known, offset, duration)
	if err != nil {
		b.Close()
		return nil, err
	}
	return t, nil
}

// newTrack is of a recording that is open.
func newTrack(b Bytes, name string, known *Info, offset, duration float64) (t *Track, err error) {
	var info Info
	var h *header
	if known.fits(b.Size()) {
		info = known.of(name)
	} else if info, h, err = describe(b, b.Size(), name); err != nil {
		return nil, err
	}
	start, n, err := part(&info, offset, duration)
	if err != nil {
		return nil, err
	}
	info.Samples = n
	t = &Track{Info: info, close: b.Close}
	t.play = func(use func([]float32) error) (Info, error) { return playStream(b, info, start, use) }
	if h != nil {
		t.play = func(use func([]float32) error) (Info, error) { return playWAV(b, info, h, start, use) }
	}
	return t, nil
}

// Play decodes the sound and gives it to use, piece by piece: the samples that [Reader.Read] gives of the same part,
// to the bit. They are overwritten when use returns. Its error ends the playing and is Play's. Where the sound turns
// out to be damaged, what is before the damage has been given.
//
// The Info has the warnings that Read gives, and the samples that were there.
func (t *Track) Play(use func(x []float32) error) (Info, error) { return t.play(use) }

// Close ends the use of the file.
func (t *Track) Close() error { return t.close() }

// playStream plays n samples of a compressed recording.
func playStream(src io.ReaderAt, info Info, start int, use func([]float32) error) (_ Info, err error) {
	defer rescue(info.Path, &err)
	var e ear
	out := sink{n: info.Samples, use: func(x []float32, sound bool) error {
		if err := finite(x, start+e.n); err != nil {
			return fmt.Errorf("%s: %w", info.Path, err)
		}
		e.hear(x, sound)
		return use(x)
	}}
	err = info.stream.decode(src, start, &out)
	switch {
	case out.failed != nil:
		return info, out.failed
	case err == nil:
		err = fmt.Errorf("damaged: %d of %d samples from sample %d on", out.got, out.n, start)
	}
	if !errors.Is(err, errEnough) {
		return info, fmt.Errorf("%s: %w", info.Path, err)
	}
	e.warn(&info)
	return info, nil
}

// playWAV plays n samples of a WAV file.
func playWAV(src io.ReaderAt, info Info, h *header, start int, use func([]float32) error) (Info, error) {
	var r Reader
	at := h.dataAt + int64(start)*int64(h.block)
	each, err := r.ready(src, info.Path, h, at, info.Samples)
	if err != nil {
		return info, err
	}
	var e ear
	err = r.pieces(src, info.Path, at, info.Samples, each, h.block, func(from int, b []byte) error {
		return r.give(h, start+from, b, &e, use)
	})
	if err == nil {
		e.warn(&info)
	}
	var own *useError
	if errors.As(err, &own) {
		err = own.error // without the path that is put before errors of the file
	}
	return info, err
}

// give decodes whole frames, of which the first has a number, and gives their samples to use.
func (r *Reader) give(h *header, first int, b []byte, e *ear, use func([]float32) error) error {
	r.samples = Sized(r.samples, len(b)/h.block)
	heard, err := h.decode(r.samples, b, &r.ints)
	if err == nil && h.tag == tagFloat {
		err = finite(r.samples, first)
	}
	if err != nil {
		return err
	}
	e.hear(r.samples, heard)
	if err := use(r.samples); err != nil {
		return &useError{err}
	}
	return nil
}

// useError is an error of who uses the samples, and none of the file.
type useError struct{ error }
