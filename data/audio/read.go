package audio

import (
	"fmt"
	"io"
	"math"
)

// Reader reads files one after the other in the same memory. The zero value is ready.
// A Reader belongs to one goroutine.
type Reader struct {
	bytes   []byte    // one piece of the file, as it is on disk
	samples []float32 // what the last Read returned
	ints    integers
}

// pieceBytes is how much of a file is decoded at a time.
const pieceBytes = 1 << 16

// Read reads the part of a recording that starts at offset and lasts duration, both in
// seconds; 0 for the duration means to the end. Of a WAV file only that part is read from the disk,
// of others little more. known is what Probe has said of the recording, or nil; with it a compressed recording
// isn't looked through again, unless its size has changed.
//
// Info.Samples is the number of samples returned. The samples are overwritten by the
// next Read. They are the mean of the channels, in [-1, 1) but for coded and float files with higher
// peaks, at the recording's own rate.
func (r *Reader) Read(src Source, known *Info, offset, duration float64) (Info, []float32, error) {
	b, err := src.Open()
	if err != nil {
		return Info{}, nil, err
	}
	defer b.Close()
	if !known.fits(b.Size()) {
		return r.decode(b, b.Size(), src.Name(), offset, duration)
	}
	return r.decodeStream(b, known.of(src.Name()), offset, duration)
}

// decode is Read from anything that holds size bytes; path is for messages.
func (r *Reader) decode(src io.ReaderAt, size int64, path string, offset, duration float64) (Info, []float32, error) {
	info, h, err := describe(src, size, path)
	switch {
	case err != nil:
		return Info{}, nil, err
	case h != nil:
		return r.decodeWAV(src, info, h, offset, duration)
	}
	return r.decodeStream(src, info, offset, duration)
}

// decodeStream reads a part of a compressed recording.
func (r *Reader) decodeStream(src io.ReaderAt, info Info, offset, duration float64) (_ Info, _ []float32, err error) {
	defer rescue(info.Path, &err)
	start, n, err := part(&info, offset, duration)
	if err != nil {
		return Info{}, nil, err
	}
	info.Samples = n
	out := sink{n: n, x: r.samples[:0]}
	if cap(out.x) < n && int64(n) <= max(surely, info.size*plausible) {
		out.x = make([]float32, 0, n)
	}
	err = info.stream.decode(src, start, &out)
	r.samples = out.x
	if err == nil {
		err = fmt.Errorf("damaged: %d of %d samples from sample %d on", out.got, n, start)
	}
	if err != errEnough {
		return Info{}, nil, fmt.Errorf("%s: %w", info.Path, err)
	}
	if err := finite(out.x, 0); err != nil {
		return Info{}, nil, fmt.Errorf("%s: %w", info.Path, err)
	}
	listen(&info, out.x, out.sound)
	return info, out.x, nil
}

// Memory for so many samples is taken at once, and for plausible samples a byte; where a file claims more, it grows as
// they are decoded. Opus at 6 kbit/s has 64 a byte.
const (
	surely    = 1 << 16
	plausible = 128
)

// decodeWAV reads a part of a WAV file.
func (r *Reader) decodeWAV(src io.ReaderAt, info Info, h *header, offset, duration float64) (Info, []float32, error) {
	path := info.Path
	start, n, err := part(&info, offset, duration)
	if err != nil {
		return Info{}, nil, err
	}
	info.Samples = n
	at := h.dataAt + int64(start)*int64(h.block)
	r.samples = Sized(r.samples, n)
	each, err := r.ready(src, path, h, at, n)
	if err != nil {
		return Info{}, nil, err
	}
	sound := false
	err = r.pieces(src, path, at, n, each, h.block, func(from int, b []byte) error {
		heard, err := h.decode(r.samples[from:from+len(b)/h.block], b, &r.ints)
		sound = sound || heard
		return err
	})
	if err != nil {
		return Info{}, nil, err
	}
	if h.tag == tagFloat {
		if err := finite(r.samples, 0); err != nil {
			return Info{}, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	listen(&info, r.samples, sound)
	return info, r.samples, nil
}

// ready makes ready to decode n frames from byte at on, and says how many to decode at a time.
func (r *Reader) ready(src io.ReaderAt, path string, h *header, at int64, n int) (each int, err error) {
	each = min(max(pieceBytes/h.block, 1), n)
	r.bytes = Sized(r.bytes, each*h.block)
	if h.mayBeLow() {
		var a alignment
		look := func(_ int, b []byte) error { a.look(b, h.bigEndian); return nil }
		if err := r.pieces(src, path, at, n, each, h.block, look); err != nil {
			return 0, err
		}
		h.low = a.right()
	}
	if h.integer() {
		if err := r.ints.reset(h.container); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
	return each, nil
}

// pieces calls use with each piece of n frames that start at byte at.
func (r *Reader) pieces(src io.ReaderAt, path string, at int64, n, each, block int, use func(from int, b []byte) error) error {
	for from := 0; from < n; from += each {
		b := r.bytes[:min(each, n-from)*block]
		if got, err := src.ReadAt(b, at+int64(from)*int64(block)); got < len(b) {
			return fmt.Errorf("%s: reading frame %d of %d: %w", path, from+got/block, n, err)
		}
		if err := use(from, b); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// part turns a part in seconds into frames of the file.
func part(info *Info, offset, duration float64) (start, n int, err error) {
	if !(offset >= 0 && duration >= 0) || math.IsInf(offset, 0) || math.IsInf(duration, 0) {
		return 0, 0, fmt.Errorf("%s: offset %v s and duration %v s: both must be 0 or more", info.Path, offset, duration)
	}
	rate := float64(info.Rate)
	first, count := math.Round(offset*rate), math.Round(duration*rate)
	left := float64(info.Samples) - first
	if left < 1 {
		return 0, 0, fmt.Errorf("%s: offset %v s is past the end, the file has %.3f s (%w)",
			info.Path, offset, info.Seconds(), ErrNoSamples)
	}
	if duration == 0 {
		count = left
	}
	if count > left {
		if count-left > rate/100 { // less than a frame shift is rounding in a manifest
			info.warn("%v s from %v s on are asked for, the file has %.3f s; read to its end", duration, offset, info.Seconds())
		}
		count = left
	}
	if count < 1 {
		return 0, 0, fmt.Errorf("%s: duration %v s is less than one sample at %d Hz (%w)", info.Path, duration, info.Rate, ErrNoSamples)
	}
	return int(first), int(count), nil
}

// listen warns of sound that can't be speech. sound says whether any single channel
// held anything but zero.
func listen(info *Info, x []float32, sound bool) {
	var e ear
	e.hear(x, sound)
	e.warn(info)
}

// ear notes of sound, piece by piece, what shows that it can't be speech.
type ear struct {
	n      int
	first  float32
	varies bool
	sound  bool // any single channel held anything but zero
}

func (e *ear) hear(x []float32, sound bool) {
	if e.n == 0 && len(x) > 0 {
		e.first = x[0]
	}
	e.n += len(x)
	e.sound = e.sound || sound
	for i := 0; i < len(x) && !e.varies; i++ {
		e.varies = x[i] != e.first
	}
}

// warn says what is odd about all that was heard.
func (e *ear) warn(info *Info) {
	switch {
	case !e.varies && e.first == 0 && e.sound:
		info.warn("the %d channels cancel: their mean is silence; give one channel", info.Channels)
	case !e.varies && e.first == 0:
		info.warn("silence: every sample is 0")
	case !e.varies && e.n > 1:
		info.warn("no sound: every sample is %v", e.first)
	}
	if e.n*40 < info.Rate {
		info.warn("%.4g s of sound, less than one window of 25 ms", info.Seconds())
	}
}
