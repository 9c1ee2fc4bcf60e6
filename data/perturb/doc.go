// Package perturb changes sound as training wants to hear it: in rooms, with noise in it, through narrow channels, and
// louder or softer.
//
// What is done to an utterance is drawn by functions of a key: [DrawReverb], [DrawNoise], [DrawBand], [DrawVolume]. A
// [Changer] does it in place: the number of samples stays, and the result is a function of the samples and of what was
// drawn alone. Sound is of one channel, in [-1, 1] by and large; silence stays silence, and what is finite stays
// finite.
package perturb

// Changer changes sound at one rate. It keeps its buffers from utterance to utterance and belongs to one goroutine.
type Changer struct {
	rate  int       // Hz
	noise []float32 // of the utterance in hand

	response  []float32 // of its room
	convolver convolver
}

// NewChanger returns a Changer for sound at a rate in Hz.
func NewChanger(rate int) *Changer { return &Changer{rate: rate} }
