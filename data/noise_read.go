package data

import (
	"iter"

	"konkanitrain/data/audio"
	"konkanitrain/data/perturb"
)

// noiseReader reads recordings of noise one after the other, each in stretches, so that a long one takes no more memory
// than is kept of it.
type noiseReader struct {
	reader    audio.Reader
	resampler *audio.Resampler
	wave      []float32
}

const (
	noiseStretch = 30  // seconds that are read and resampled at a time
	noiseMargin  = 0.1 // seconds that are read before and behind a stretch: the resampler looks both ways
)

// read is the start of a recording: so many samples at a rate, or none where there is no sound in it.
func (x *noiseReader) read(u *Utterance, rate, samples int) (perturb.Recording, error) {
	ratio, err := audio.Convert(u.Rate(), rate, audio.Ratio{})
	if err != nil {
		return perturb.Recording{}, err
	}
	return perturb.NewRecording(u.ID, samples, x.stretches(u, ratio, samples))
}

// stretches are the first so many samples of a recording, resampled, one stretch after the other. An error ends them.
func (x *noiseReader) stretches(u *Utterance, ratio audio.Ratio, samples int) iter.Seq2[[]float32, error] {
	// Places are counted in steps of ratio.P samples of the recording, of which ratio.Q samples are made.
	steps := func(seconds float64) int { return max(1, int(seconds*float64(u.Rate()))/ratio.P) }
	seconds := func(steps int) float64 { return float64(steps*ratio.P) / float64(u.Rate()) }
	stretch, margin := steps(noiseStretch), steps(noiseMargin)+1
	return func(yield func([]float32, error) bool) {
		for at := 0; at*ratio.Q < samples; at += stretch {
			from := max(0, at-margin)
			length := min(seconds(at+stretch+margin-from), u.Duration-seconds(from))
			_, wave, err := x.reader.Read(u.Recording.Source, &u.Recording.Info, u.Offset+seconds(from), length)
			if err != nil {
				yield(nil, err)
				return
			}
			x.wave = x.resampler.Resample(x.wave, wave, ratio)
			begin := min((at-from)*ratio.Q, len(x.wave))
			end := min(begin+min(stretch*ratio.Q, samples-at*ratio.Q), len(x.wave))
			if !yield(x.wave[begin:end], nil) {
				return
			}
		}
	}
}
