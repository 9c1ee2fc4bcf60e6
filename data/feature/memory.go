package feature

import (
	"unsafe"

	"konkanitrain/data/audio"
	"konkanitrain/internal/frames"
)

// ScratchBytes is what an Extractor takes, in bytes, after it has made features of so many samples: its tables, the
// resampled sound, and the energies in float64. What the Resampler shares comes on top. The error is that of Frames.
func (o Options) ScratchBytes(samples, rate int, speed audio.Ratio) (int64, error) {
	ratio, err := audio.Convert(rate, o.SampleRate, speed)
	if err != nil {
		return 0, err
	}
	n := ratio.Len(samples)
	bytes := o.tableBytes() + 8*int64(frames.Count(n, o.SampleRate)*o.NumMels)
	if !ratio.One() {
		bytes += 4 * int64(n)
	}
	return bytes, nil
}

// tableBytes is what an Extractor takes before its first utterance: the FFT's factors and spectra, the window and the
// filters, of which each frequency is in two.
func (o Options) tableBytes() int64 {
	n, size, bins := int64(fftSize(o.SampleRate)), int64(windowSize(o.SampleRate)), int64(o.NumMels)
	fft := 16*(3*n/2+n/2) + 8*n/2
	filters := bins*int64(unsafe.Sizeof(melFilter{})) + 2*8*n/2
	return fft + filters + (8+4)*size + 2*8*bins + int64(unsafe.Sizeof(logTable{}))
}
