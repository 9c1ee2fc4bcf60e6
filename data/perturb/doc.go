// Package perturb changes sound as training wants to hear it: higher or lower, earlier or later, in rooms, with noise
// in it, through narrow channels, and louder or softer.
//
// What is done to an utterance is drawn by functions of a key: [DrawPitch], [DrawShift], [DrawReverb], [DrawNoise],
// [DrawBand], [DrawVolume]. A [Changer] does it in place: the number of samples stays, and the result is a function of
// the samples and of what was drawn alone. Sound is of one channel, in [-1, 1] by and large; silence stays silence, and
// what is finite stays finite.
package perturb

import "konkanitrain/data/audio"

// Changer changes sound at one rate. It keeps its buffers from utterance to utterance and belongs to one goroutine.
type Changer struct {
	rate      int // Hz
	resampler *audio.Resampler
	pitched   []float32 // the utterance in hand, higher and shorter or lower and longer
	fade      []float32 // of one piece of it into the next
	response  []float32 // of its room
	convolver convolver
	noise     []float32 // that it gets
}

// NewChanger returns a Changer for sound at a rate in Hz. Changers of several goroutines should share a Resampler.
func NewChanger(rate int, r *audio.Resampler) *Changer { return &Changer{rate: rate, resampler: r} }
