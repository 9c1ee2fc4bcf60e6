package perturb

import (
	"testing"

	"konkanitrain/data/fft"
	"konkanitrain/internal/philox"
)

// What a Changer says that it keeps is what its buffers hold, after the longest utterance and shorter ones, with every
// draw that there is.
func TestBytes(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		for _, n := range []int{100, 5000, 40_000} {
			c := newChanger(rate)
			for key := range uint64(30) {
				s := philox.NewStream(key, 1)
				for _, samples := range []int{n, n / 2, n / 5} {
					c.Pitch(speech(samples), DrawPitch(s, 3))
					c.Reverb(speech(samples), DrawReverb(s, key))
					c.Noise(speech(samples), DrawNoise(s, key, 0, 10, nil))
				}
			}
			c.Pitch(speech(n), -12)
			for what, b := range map[string]struct{ said, held int64 }{
				"pitch": {PitchBytes(n, rate, 3), 4 * int64(cap(c.pitched)+cap(c.fade))},
				"noise": {NoiseBytes(n), 4 * int64(cap(c.noise))},
			} {
				if b.said != b.held {
					t.Errorf("%d samples at %d Hz: %s holds %d bytes, said %d", n, rate, what, b.held, b.said)
				}
			}
			held, plans := 4*int64(cap(c.response))+16*int64(cap(c.convolver.x)+cap(c.convolver.y)+cap(c.convolver.spectrum)), int64(0)
			for size := range c.convolver.plans {
				plans += fft.Bytes(size)
			}
			// Of the smaller plans only those are there that were needed.
			if said, least := ReverbBytes(n, rate), held+plans; said < least || said > held+2*plans {
				t.Errorf("%d samples at %d Hz: a room holds %d bytes, said %d", n, rate, least, said)
			}
		}
	}
}
