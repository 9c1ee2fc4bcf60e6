package audio

import (
	"errors"
	"fmt"
	"io"
)

// stream is what is known of a compressed recording: where its samples lie and how they are coded. It doesn't change
// once it is made, and goroutines share it.
type stream interface {
	// decode puts the samples from first on into out, until it has enough.
	decode(src io.ReaderAt, first int, out *sink) error
	// append adds what parse needs.
	append(b []byte) []byte
}

// kind is the first byte of a stream's bytes.
type kind byte

const (
	isWAV kind = iota // no stream: the header is read each time
	isFLAC
	isMP3
	isVorbis
	isOpus
	isFLACChain
)

// describe finds out what size bytes are and where their samples lie: of a WAV file the header, of others info.stream.
// It goes by the content, never by the name.
func describe(src io.ReaderAt, size int64, path string) (info Info, wav *header, err error) {
	defer rescue(path, &err)
	info = Info{Path: path, size: size}
	if size == 0 {
		return Info{}, nil, fmt.Errorf("%s: the file is empty, 0 bytes (%w)", path, ErrNoSamples)
	}
	head := make([]byte, min(size, headBytes))
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return Info{}, nil, fmt.Errorf("%s: reading the header: %w", path, err)
	}
	start := skipID3(head)
	if start > 0 && start < size { // a tag, which may stand before MP3, FLAC and AAC
		head = make([]byte, min(size-start, headBytes))
		if _, err := src.ReadAt(head, start); err != nil && err != io.EOF {
			return Info{}, nil, fmt.Errorf("%s: reading the header behind %d bytes of tags: %w", path, start, err)
		}
	}
	switch {
	case starts(head, "fLaC"):
		info.stream, err = probeFLAC(src, start, size, &info)
	case starts(head, "OggS") && start == 0:
		info.stream, err = probeOgg(src, size, &info)
	case mp3Starts(head) || start > 0 && !isADTS(head):
		info.stream, err = probeMP3(src, start, size, &info)
	case start > 0:
		return Info{}, nil, notRead(path, head)
	default:
		info, wav, err = readHeader(src, size, path)
		info.size = size
		return info, wav, err
	}
	if err != nil {
		return Info{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	if info.Rate < MinRate || info.Rate > MaxRate {
		return Info{}, nil, fmt.Errorf("%s: the header gives a rate of %d Hz, which is not plausible (%d to %d Hz are)",
			path, info.Rate, MinRate, MaxRate)
	}
	if info.Samples < 1 {
		return Info{}, nil, fmt.Errorf("%s: headers of %s but no sound in %d bytes (%w)", path, info.Format, size, ErrNoSamples)
	}
	info.FileSamples = info.Samples
	return info, nil, nil
}

// headBytes is how much of a file's start is looked at to tell its format.
const headBytes = 4096

func starts(b []byte, magic string) bool {
	return len(b) >= len(magic) && string(b[:len(magic)]) == magic
}

// rescue turns a decoder's panic over damaged bytes into an error that names the file.
func rescue(path string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: damaged, its decoder fails with %q", path, fmt.Sprint(p))
	}
}

// errEnough is not an error: a sink has all that it wants.
var errEnough = errors.New("enough")

// sink takes a part of a recording, n samples after the first skip ones, and collects it or hands it on.
type sink struct {
	skip  int
	n     int
	got   int       // samples so far
	x     []float32 // these, where nobody uses them
	sound bool      // any channel held anything but zero

	use    func(x []float32, sound bool) error // takes the samples as they come; nil: they are collected
	failed error                               // use's
}

// put takes the next samples; the error is errEnough once there are enough. sound says whether any channel holds
// anything but zero in them.
func (s *sink) put(x []float32, sound bool) error {
	if k := min(s.skip, len(x)); k > 0 {
		s.skip -= k
		x = x[k:]
	}
	x = x[:min(len(x), s.n-s.got)]
	s.got += len(x)
	switch {
	case len(x) == 0:
	case s.use != nil:
		if s.failed = s.use(x, sound); s.failed != nil {
			return s.failed
		}
	default:
		s.x = append(s.x, x...)
		s.sound = s.sound || sound
	}
	if s.got == s.n {
		return errEnough
	}
	return nil
}

// mean writes the mean of interleaved channels. It says whether any of them holds anything but zero.
func mean(dst, x []float32, channels int) (sound bool) {
	if channels == 1 {
		for i, v := range x {
			dst[i] = v
			sound = sound || v != 0
		}
		return sound
	}
	share := 1 / float64(channels)
	for i := range dst {
		sum := 0.0
		for _, v := range x[i*channels : (i+1)*channels] {
			sum += float64(v)
			sound = sound || v != 0
		}
		dst[i] = float32(sum * share)
	}
	return sound
}
