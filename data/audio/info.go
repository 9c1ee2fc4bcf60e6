package audio

import (
	"errors"
	"fmt"
	"slices"
)

// Rates outside these bounds, in Hz, are taken for a damaged header: a wrong rate
// would turn a small file into gigabytes of resampled sound.
const (
	MinRate = 1000
	MaxRate = 768000
)

// ErrFormat is in the chain of errors about files of no format that is read; the message
// names the format where it is a known one.
var ErrFormat = errors.New("not a format that is read")

// ErrNoSamples is in the chain of errors about files with nothing to hear in them.
var ErrNoSamples = errors.New("no samples")

// Info describes a recording, or the part of it that was read. As bytes (MarshalBinary) it can be kept, so that a
// recording need not be looked through again.
type Info struct {
	Path        string
	Rate        int      // samples per second and channel
	Channels    int      // channels in the file; they are averaged when read
	Samples     int      // samples per channel of what this describes: the whole file, or the part that was read
	FileSamples int      // samples per channel of the whole file
	Format      string   // such as "PCM, 16 bit", "FLAC, 16 bit", "MP3, 128 kbit/s"
	Warnings    []string // what was odd, each with the path, for the user to see

	size   int64  // bytes of the recording that this was found in
	stream stream // where its samples lie, which never changes; nil where the header must be read again to know
}

// Seconds is the duration.
func (i Info) Seconds() float64 { return float64(i.Samples) / float64(i.Rate) }

func (i *Info) warn(format string, args ...any) {
	i.Warnings = append(i.Warnings, i.Path+": "+fmt.Sprintf(format, args...))
}

// fits says whether what is known is of a recording of size bytes.
func (i *Info) fits(size int64) bool { return i != nil && i.stream != nil && i.size == size }

// of is i for a source of this name. Its warnings are its own.
func (i *Info) of(path string) Info {
	c := *i
	c.Path, c.Warnings = path, slices.Clone(i.Warnings)
	return c
}

// Probe describes a recording. Of WAV and FLAC files the header is read, and of the latter the end, and what shows
// whether several were joined, for which small ones are looked through; the frames of MP3 and the pages of Ogg files
// are all looked at once, without decoding them, since nothing else gives their true length. Samples counts what is
// really there, whatever the header says. Errors name the source.
func Probe(src Source) (Info, error) {
	b, err := src.Open()
	if err != nil {
		return Info{}, err
	}
	defer b.Close()
	info, _, err := describe(b, b.Size(), src.Name())
	return info, err
}
