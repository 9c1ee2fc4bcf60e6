package audio

import (
	"errors"
	"fmt"
	"os"
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

// Probe describes a file from its header and its size; the samples are not read.
// Samples counts what is really there, whatever the header says. Errors name the file.
func Probe(path string) (Info, error) {
	f, size, err := open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	info, _, err := readHeader(f, size, path)
	return info, err
}

// open opens a regular file and gives its size. Pipes and folders are refused before
// they could block or confuse.
func open(path string) (*os.File, int64, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !stat.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: a regular file is needed, this is %s", path, kindOf(stat.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, stat.Size(), nil
}

func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeDevice != 0:
		return "a device"
	default:
		return "something else (" + m.Type().String() + ")"
	}
}
