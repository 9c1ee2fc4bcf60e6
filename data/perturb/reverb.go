package perturb

import (
	"fmt"
	"math"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
)

// What rooms are drawn from: small and middling ones, from near the microphone to across the room.
const (
	shortestRT60, longestRT60 = 0.15, 0.8 // s
	lowestDRR, highestDRR     = 0, 15     // dB
)

// Reverb is a room as it was drawn: a direct sound, and behind it noise that decays exponentially, which is what many
// reflections sum up to (Polack, "La transmission de l'énergie sonore dans les salles", 1988; Habets, "Single- and
// multi-microphone speech dereverberation using spectral enhancement", 2007, section 2.4).
type Reverb struct {
	RT60 float64 // seconds in which the sound decays by 60 dB
	DRR  float64 // dB, of the energy of the direct sound to that of the rest

	key uint64
}

// siteReverb is the site of the draws that make a response.
const siteReverb = 0x5eed1002

// DrawReverb draws a room: a decay uniform from 0.15 to 0.8 s, and a ratio uniform from 0 to 15 dB. s decides these,
// and key the reflections.
func DrawReverb(s *philox.Stream, key uint64) Reverb {
	return Reverb{
		RT60: shortestRT60 + (longestRT60-shortestRT60)*s.Float64(),
		DRR:  lowestDRR + (highestDRR-lowestDRR)*s.Float64(),
		key:  key,
	}
}

// String says what the room is: "reverberation of 0.45 s, direct sound 3.2 dB above it".
func (r Reverb) String() string {
	return fmt.Sprintf("reverberation of %.2f s, direct sound %.1f dB above it", r.RT60, r.DRR)
}

// Reverb has x sound in a room. The direct sound stays in its place, and what would be heard behind the end of x is cut
// off. The response has the energy 1, so that the level stays, by and large.
func (c *Changer) Reverb(x []float32, r Reverb) {
	c.response = r.response(c.response, c.rate)
	c.convolver.convolve(x, c.response, mostTaps(c.rate))
}

// ReverbBytes is what Reverb keeps for utterances of up to n samples at a rate, in bytes.
func ReverbBytes(n, rate int) int64 {
	return 4*int64(mostTaps(rate)) + convolverBytes(n, mostTaps(rate))
}

// mostTaps is the most samples of a response.
func mostTaps(rate int) int { return taps(longestRT60, rate) }

func taps(rt60 float64, rate int) int { return 1 + int(math.Ceil(rt60*float64(rate))) }

// response is the room's impulse response, in dst's memory.
func (r Reverb) response(dst []float32, rate int) []float32 {
	h := audio.Sized(dst, mostTaps(rate))[:taps(r.RT60, rate)]
	tail := h[1:]
	white(tail, philox.NewStream(r.key, siteReverb))
	energy, fall := 0.0, math.Pow(10, -3/(r.RT60*float64(rate)))
	level := 1.0
	for i, v := range tail {
		level *= fall
		tail[i] = float32(level * float64(v))
		energy += float64(tail[i]) * float64(tail[i])
	}
	share := math.Pow(10, -r.DRR/10) // of the tail, for one of the direct sound
	direct := math.Sqrt(1 / (1 + share))
	h[0] = float32(direct)
	scale := float32(direct * math.Sqrt(share/energy))
	for i := range tail {
		tail[i] *= scale
	}
	return h
}
