package feature

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"konkanitrain/data/audio"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/words"
)

// The frames of Kaldi's default configuration, which nothing changes but the scale.
const (
	WindowMS    = 25 // of sound in a frame; there is one every 10 ms
	Preemphasis = 0.97
	LogFloor    = 0x1p-23 // of energies: float32 epsilon

	// SixteenBits is the SampleScale of Kaldi: that of the 16-bit range.
	SixteenBits = 32768
)

// mostScale is the largest SampleScale: that of 32 bits, beyond which nothing is a sample's range.
const mostScale = 1 << 31

// Kinds of normalization for Options.Normalize.
const (
	PerUtterance = "utterance" // mean 0 and deviation 1 per bin over the utterance
	Global       = "global"    // with the Stats of the training set
	None         = "none"      // log-mel energies as they are
)

// Options say how sound becomes features. They belong to a model: saved with it, and
// the same in training and use.
type Options struct {
	SampleRate  int     // Hz the network hears; sound at other rates is resampled
	NumMels     int     // bins
	LowHz       float64 // lower edge of the first mel filter
	HighHz      float64 // upper edge of the last one; 0 or less is so much below half of the sample rate, as in Kaldi
	SampleScale float64 // what samples from -1 to 1 are multiplied by: the louder, the less is below the floor of energies
	Normalize   string  // PerUtterance, Global or None
	Stats       *Stats  // for Global

	// Resampler keeps resampling kernels. Extractors of several goroutines should share
	// one; nil makes one for each.
	Resampler *audio.Resampler
}

// Default is 80 bins at 16 kHz, normalized per utterance.
func Default() Options {
	return Options{SampleRate: 16000, NumMels: 80, LowHz: 20, SampleScale: SixteenBits, Normalize: PerUtterance}
}

// Validate lists everything that is wrong.
func (o Options) Validate() error {
	var all []error
	complain := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	rateOK := o.SampleRate >= audio.MinRate && o.SampleRate <= audio.MaxRate
	if !rateOK {
		complain("sample_rate is %d Hz; %d to %d are possible", o.SampleRate, audio.MinRate, audio.MaxRate)
	}
	if o.NumMels < 1 {
		complain("num_mels is %d; at least 1 is needed", o.NumMels)
	}
	if rateOK && o.NumMels >= 1 {
		high := o.High()
		switch {
		case !(o.LowHz >= 0 && o.LowHz < high && high <= float64(o.SampleRate)/2):
			complain("the mel filters go from %v Hz to %v Hz (high_hz %v); the lower edge must be at least 0 and below the upper one, "+
				"and that at most half of sample_rate %d", o.LowHz, high, o.HighHz, o.SampleRate)
		case o.NumMels > fftSize(o.SampleRate):
			complain("num_mels is %d; an FFT of %d points can't fill that many bins: use fewer", o.NumMels, fftSize(o.SampleRate))
		default:
			if empty := o.melEmpty(); len(empty) > 0 {
				complain("mel filters %s of %d catch no bin of the %d-point FFT at %d Hz "+
					"and would always be at the floor; use fewer bins (num_mels)",
					words.List(numerals(empty), 10), o.NumMels, fftSize(o.SampleRate), o.SampleRate)
			}
		}
	}
	if !(o.SampleScale > 0 && o.SampleScale <= mostScale) {
		complain("sample_scale is %v; more than 0 is needed, and at most %d", o.SampleScale, mostScale)
	}
	switch o.Normalize {
	case PerUtterance, None:
	case Global:
		switch {
		case o.Stats == nil:
			complain("normalize is %q, and there are no statistics; compute them over the training set first", Global)
		case len(o.Stats.Mean) != o.NumMels || len(o.Stats.Deviation) != o.NumMels:
			complain("the statistics have %d means and %d deviations, num_mels is %d; compute them with these settings",
				len(o.Stats.Mean), len(o.Stats.Deviation), o.NumMels)
		default:
			for i := range o.Stats.Mean {
				if m, d := o.Stats.Mean[i], o.Stats.Deviation[i]; !(math.Abs(m) < 1e6 && d >= DeviationFloor && d < 1e6) {
					complain("the statistics of bin %d are mean %v and deviation %v; compute them again", i, m, d)
					break
				}
			}
		}
	default:
		complain("normalize is %q; %q, %q and %q are known", o.Normalize, PerUtterance, Global, None)
	}
	return errors.Join(all...)
}

// Frames is T, the number of feature frames that a wave of samples at a rate gives
// when it is resampled and played at a speed. It is what Extract will return, known
// beforehand. The error is about a rate that can't be resampled.
func (o Options) Frames(samples, rate int, speed audio.Ratio) (int, error) {
	ratio, err := audio.Convert(rate, o.SampleRate, speed)
	if err != nil {
		return 0, err
	}
	return frames.Count(ratio.Len(samples), o.SampleRate), nil
}

// High is the upper edge of the last mel filter, in Hz.
func (o Options) High() float64 {
	if o.HighHz > 0 {
		return o.HighHz
	}
	return float64(o.SampleRate)/2 + o.HighHz
}

// windowSize is the samples of a window, fftSize the next power of two.
func windowSize(rate int) int { return rate * WindowMS / 1000 }
func fftSize(rate int) int    { return max(8, 1<<bits.Len(uint(windowSize(rate)-1))) }

func numerals(n []int) []string {
	s := make([]string, len(n))
	for i, v := range n {
		s[i] = strconv.Itoa(v)
	}
	return s
}
