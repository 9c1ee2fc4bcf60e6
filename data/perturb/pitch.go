package perturb

import (
	"fmt"
	"math"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
)

// Pitch is how much higher a sound is made, as it was drawn, in quarters of a semitone.
type Pitch int

// quarters are the quarters of an octave's semitones.
const quarters = 4 * 12

// DrawPitch draws a pitch: uniform from -most to most semitones, rounded to a quarter.
func DrawPitch(s *philox.Stream, most float64) Pitch {
	return Pitch(math.Round(4 * most * (2*s.Float64() - 1)))
}

// String is the pitch: "1.25 semitones higher".
func (p Pitch) String() string {
	direction := "higher"
	if p < 0 {
		p, direction = -p, "lower"
	}
	return fmt.Sprintf("%.2f semitones %s", float64(p)/4, direction)
}

// mostTerm bounds the denominators of the ratios: they come within a tenth of a quarter of a semitone of the pitch,
// and their kernels are small.
const mostTerm = 100

// ratio is that of the frequencies, as input samples per output sample.
func (p Pitch) ratio() audio.Ratio {
	f := math.Pow(2, float64(p)/quarters)
	best, off := audio.Ratio{P: 1, Q: 1}, math.Inf(1)
	for q := 1; q <= mostTerm; q++ {
		n := math.Round(f * float64(q))
		if d := math.Abs(n/float64(q) - f); d < off {
			best, off = audio.Ratio{P: int(n), Q: q}, d
		}
	}
	return best
}

// PitchRatios are those that sound is resampled by for pitches of up to so many semitones.
func PitchRatios(most float64) []audio.Ratio {
	var all []audio.Ratio
	for p, end := Pitch(1), Pitch(math.Round(4*most)); p <= end; p++ {
		all = append(all, (-p).ratio(), p.ratio())
	}
	return all
}

// PitchBytes is what Pitch keeps for utterances of up to n samples at a rate, in bytes.
func PitchBytes(n, rate int, most float64) int64 {
	lowest := Pitch(-math.Round(4 * most)).ratio()
	return 4*int64(lowest.Len(n)) + 4*int64(hop(rate))
}

// Pitch makes x higher or lower, and leaves it as long and as fast as it was: it is resampled, as if it were played
// faster or slower, and stretched to its length again.
func (c *Changer) Pitch(x []float32, p Pitch) {
	ratio := p.ratio()
	if ratio.One() || len(x) == 0 {
		return
	}
	c.pitched = c.resampler.Resample(c.pitched, x, ratio)
	if c.fade == nil {
		c.fade = make([]float32, hop(c.rate))
		for i := range c.fade {
			c.fade[i] = float32(0.5 - 0.5*math.Cos(math.Pi*(float64(i)+0.5)/float64(len(c.fade))))
		}
	}
	stretch(x, c.pitched, c.fade, c.rate)
}

// hop is how long a piece takes to fade in, in samples: 12 ms.
func hop(rate int) int { return rate * 12 / 1000 }

// stretch fills y with x at its own pitch, faster or slower as their lengths ask for: WSOLA (Verhelst and Roelands, "An
// overlap-add technique based on waveform similarity (WSOLA) for high quality time-scale modification of speech",
// ICASSP 1993). y is made of pieces of x that fade into each other, each over a hop. A piece comes from where the
// lengths ask for, give or take 8 ms, half a period of a voice of 62 Hz: so that it is most like what would have
// followed the piece before.
func stretch(y, x, fade []float32, rate int) {
	reach, step := rate*8/1000, max(1, rate/4000)
	out := 0 // where in x the piece that fades out goes on
	for at := 0; at < len(y); at += len(fade) {
		in := 0
		if at > 0 {
			in = int(int64(at) * int64(len(x)) / int64(len(y)))
			in = min(in, max(0, len(x)-len(fade)))
			in = alike(x, out, in, len(fade), reach, step, step)
			in = alike(x, out, in, len(fade), step-1, 1, 1)
		}
		for i := range y[at:min(at+len(fade), len(y))] {
			y[at+i] = (1-fade[i])*at0(x, out+i) + fade[i]*at0(x, in+i)
		}
		out = in + len(fade)
	}
}

// alike is the place, up to reach from at and by steps, whose n samples are most like those at a place: by their
// correlation, of every so manyth sample.
func alike(x []float32, place, at, n, reach, step, every int) int {
	best, most := at, likeness(x, place, at, n, every)
	for k := step; k <= reach; k += step {
		for _, other := range [2]int{at - k, at + k} {
			if other < 0 || other+n > len(x) {
				continue
			}
			if l := likeness(x, place, other, n, every); l > most {
				best, most = other, l
			}
		}
	}
	return best
}

// likeness is the correlation of the n samples at two places of x, 0 where the second ones are silent. What is outside
// of x is.
func likeness(x []float32, a, b, n, every int) float64 {
	n = min(n, len(x)-a, len(x)-b)
	var both, square float32
	for i := 0; i < n; i += every {
		both += x[a+i] * x[b+i]
		square += x[b+i] * x[b+i]
	}
	if !(square > 0) {
		return 0
	}
	return float64(both) / math.Sqrt(float64(square))
}

// at0 is x[i], 0 behind its end.
func at0(x []float32, i int) float32 {
	if i >= len(x) {
		return 0
	}
	return x[i]
}
