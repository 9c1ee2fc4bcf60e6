package feature

import (
	"unsafe"

	"konkanitrain/data/audio"
	"konkanitrain/data/fft"
	"konkanitrain/data/perturb"
	"konkanitrain/internal/frames"
)

// ScratchBytes is what an Extractor takes, in bytes, after it has made features of so many samples, augmented by a (nil
// for not at all): its tables, the resampled sound, and the energies in float64. What the Resampler shares comes on
// top. The error is that of Frames.
func (o Options) ScratchBytes(samples, rate int, speed audio.Ratio, a *Augment) (int64, error) {
	ratio, err := audio.Convert(rate, o.SampleRate, speed)
	if err != nil {
		return 0, err
	}
	n := ratio.Len(samples)
	bytes := o.tableBytes() + 8*int64(frames.Count(n, o.SampleRate)*o.NumMels)
	if a.changesSound() || !ratio.One() {
		bytes += 4 * int64(n)
	}
	if a != nil {
		bytes += a.scratchBytes(o, n)
	}
	return bytes, nil
}

// scratchBytes is what augmentation takes for n samples at the sample rate.
func (a *Augment) scratchBytes(o Options, n int) (bytes int64) {
	if a.VTLP > 0 {
		bytes += o.filterBytes()
	}
	if a.Pitch > 0 {
		bytes += perturb.PitchBytes(n, o.SampleRate, a.Pitch)
	}
	if a.ReverbShare > 0 {
		bytes += perturb.ReverbBytes(n, o.SampleRate)
	}
	if a.NoiseShare > 0 {
		bytes += perturb.NoiseBytes(n)
	}
	return bytes
}

// Ratios are those that augmentation resamples sound by, beside its speeds.
func (a *Augment) Ratios() []audio.Ratio {
	if a == nil || a.Pitch == 0 {
		return nil
	}
	return perturb.PitchRatios(a.Pitch)
}

// filterBytes is what mel filters take: each frequency is in two, and has its place on the mel scale.
func (o Options) filterBytes() int64 {
	return int64(o.NumMels)*int64(unsafe.Sizeof(melFilter{})) + 3*8*int64(fftSize(o.SampleRate))/2
}

// tableBytes is what an Extractor takes before its first utterance: the FFT's factors and spectra, the window and the
// filters.
func (o Options) tableBytes() int64 {
	n, size, bins := int64(fftSize(o.SampleRate)), int64(windowSize(o.SampleRate)), int64(o.NumMels)
	spectra := 16*3*n/2 + fft.Bytes(int(n/2)) + 8*n/2
	return spectra + o.filterBytes() + (8+4)*size + 2*8*bins + int64(unsafe.Sizeof(logTable{}))
}
