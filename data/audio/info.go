package audio

import (
	"errors"
	"fmt"
)

// Rates outside these bounds, in Hz, are taken for a damaged header: a wrong rate
// would turn a small file into gigabytes of resampled sound.
const (
	MinRate = 1000
	MaxRate = 768000
)

// ErrNotWAV is in the chain of errors about files that are no WAV file; the message
// names the format where it is a known one.
var ErrNotWAV = errors.New("not a WAV file")

// ErrNoSamples is in the chain of errors about files with nothing to hear in them.
var ErrNoSamples = errors.New("no samples")

// Info describes a WAV file, or the part of it that was read.
type Info struct {
	Path        string
	Rate        int      // samples per second and channel
	Channels    int      // channels in the file; they are averaged when read
	Samples     int      // samples per channel of what this describes: the whole file, or the part that was read
	FileSamples int      // samples per channel of the whole file
	Format      string   // such as "PCM, 16 bit"
	Warnings    []string // what was odd, each with the path, for the user to see
}

// Seconds is the duration.
func (i Info) Seconds() float64 { return float64(i.Samples) / float64(i.Rate) }

func (i *Info) warn(format string, args ...any) {
	i.Warnings = append(i.Warnings, i.Path+": "+fmt.Sprintf(format, args...))
}

// Probe describes a recording from its header and its size; the samples are not read.
// Samples counts what is really there, whatever the header says. Errors name the source.
func Probe(src Source) (Info, error) {
	b, err := src.Open()
	if err != nil {
		return Info{}, err
	}
	defer b.Close()
	info, _, err := readHeader(b, b.Size(), src.Name())
	return info, err
}
