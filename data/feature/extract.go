package feature

import (
	"fmt"

	"konkanitrain/data/audio"
	"konkanitrain/data/perturb"
)

// Extractor computes features. It keeps its buffers from utterance to utterance and
// belongs to one goroutine.
type Extractor struct {
	o               Options
	bank            *bank
	mels            *filterBank
	warped          *filterBank // for the utterance in hand, by its warp; nil before the first one
	reader          audio.Reader
	changer         *perturb.Changer
	wave            []float32 // resampled, or a copy that is changed
	logmel          []float64 // [T, bins]
	mean, deviation []float64 // [bins]
}

// New returns an Extractor, or an error that lists everything that is wrong with the
// options.
func New(o Options) (*Extractor, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Resampler == nil {
		o.Resampler = audio.NewResampler()
	}
	e := &Extractor{o: o, bank: newBank(o), mels: newFilterBank(o), changer: perturb.NewChanger(o.SampleRate, o.Resampler),
		mean: make([]float64, o.NumMels), deviation: make([]float64, o.NumMels)}
	e.mels.fill(o, unwarped)
	if o.Normalize == Global {
		copy(e.mean, o.Stats.Mean)
		copy(e.deviation, o.Stats.Deviation)
	}
	return e, nil
}

// Bins is the number of features of a frame.
func (e *Extractor) Bins() int { return e.o.NumMels }

// Result is what File makes of a file.
type Result struct {
	Info     audio.Info // of the part that was read, with warnings
	Features []float32  // [Frames, bins]
	Frames   int        // 0: too short
	Speed    audio.Ratio
}

// File reads the part of a recording that starts at offset and lasts duration seconds
// (0: to the end) and extracts its features into dst; see Extract.
func (e *Extractor) File(dst []float32, path string, offset, duration float64, a *Augment, key uint64) (Result, error) {
	info, wave, err := e.reader.Read(audio.File(path), nil, offset, duration)
	if err != nil {
		return Result{}, err
	}
	features, frames, err := e.Extract(dst, wave, info.Rate, a, key)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", path, err)
	}
	return Result{Info: info, Features: features, Frames: frames, Speed: a.Speed(key)}, nil
}

// Sound is what features are made of: a wave at the given rate, resampled and changed as augmentation asks for. a is
// the augmentation, nil for none; key chooses its draws. The result is the wave itself where there is nothing to do,
// else it is overwritten by the next call. The error is about a rate that can't be resampled.
func (e *Extractor) Sound(wave []float32, rate int, a *Augment, key uint64) ([]float32, error) {
	ratio, err := audio.Convert(rate, e.o.SampleRate, a.Speed(key))
	if err != nil {
		return nil, err
	}
	changes := a.changesSound()
	if changes || !ratio.One() {
		e.wave = e.o.Resampler.Resample(e.wave, wave, ratio)
		wave = e.wave
	}
	if changes {
		e.change(wave, a, key)
	}
	return wave, nil
}

// Extract computes filter bank energies of the Sound of a wave, normalizes them and masks them. The features [T, bins]
// are in dst where its capacity suffices; T is 0 for a wave shorter than half a frame shift. The error is Sound's.
func (e *Extractor) Extract(dst []float32, wave []float32, rate int, a *Augment, key uint64) ([]float32, int, error) {
	wave, err := e.Sound(wave, rate, a, key)
	if err != nil {
		return dst[:0], 0, err
	}
	var frames int
	e.logmel, frames = e.bank.compute(e.logmel, wave, e.filters(a.Warp(key)))
	dst = audio.Sized(dst, len(e.logmel))
	if frames == 0 {
		return dst, 0, nil
	}
	switch e.o.Normalize {
	case PerUtterance:
		utteranceStats(e.mean, e.deviation, e.logmel)
		normalize(dst, e.logmel, e.mean, e.deviation)
	case Global:
		normalize(dst, e.logmel, e.mean, e.deviation)
	default:
		narrow(dst, e.logmel)
	}
	a.Mask(dst, frames, e.o.NumMels, key)
	return dst, frames, nil
}

// filters are the mel filters for a factor of frequencies.
func (e *Extractor) filters(factor float64) []melFilter {
	if factor == 1 {
		return e.mels.filters
	}
	if e.warped == nil {
		e.warped = newFilterBank(e.o)
	}
	e.warped.fill(e.o, newWarp(factor, e.o.SampleRate))
	return e.warped.filters
}

func narrow(dst []float32, x []float64) {
	for i, v := range x {
		dst[i] = float32(v)
	}
}
