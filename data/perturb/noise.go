package perturb

import (
	"fmt"
	"math"

	"konkanitrain/data/audio"
	"konkanitrain/internal/philox"
)

// Color is a sort of generated noise.
type Color string

// The colors. Of white noise all frequencies have the same power, of pink noise all octaves; of brown noise the power
// falls by 6 dB an octave, as that of wind and traffic does by and large. Hum is the mains, 50 or 60 Hz, and its
// harmonics.
const (
	White Color = "white"
	Pink  Color = "pink"
	Brown Color = "brown"
	Hum   Color = "hum"
)

var colors = [...]Color{White, Pink, Brown, Hum}

// Noise is noise as it was drawn.
type Noise struct {
	SNR   float64 // dB, of the utterance's mean power to that of the noise
	Color Color   // of generated noise

	from  *Recording // nil for generated noise
	start float64    // in the recording, as a share of it
	key   uint64
}

// siteNoise is the site of the draws that make noise of a color.
const siteNoise = 0x5eed1001

// DrawNoise draws noise: its ratio to the signal, uniform from low to high dB, and its color, each as likely, or a
// recording of those that there are, and where in it the noise starts. Without recordings noise is generated. s decides
// what is drawn, and key what generated noise sounds like.
func DrawNoise(s *philox.Stream, key uint64, low, high float64, from []Recording) Noise {
	n := Noise{SNR: low + (high-low)*s.Float64(), key: key}
	if len(from) > 0 {
		n.from, n.start = &from[s.IntN(len(from))], s.Float64()
		return n
	}
	n.Color = colors[s.IntN(len(colors))]
	return n
}

// String says what the noise is: "pink noise, 12.3 dB".
func (n Noise) String() string {
	if n.from != nil {
		return fmt.Sprintf("noise from %s, %.1f dB", n.from.Name, n.SNR)
	}
	return fmt.Sprintf("%s noise, %.1f dB", n.Color, n.SNR)
}

// Noise adds noise to x. Of the ratio of powers both are mean squares around the mean, over all of x. Where x or the
// noise is silent, or has a single sample, nothing is added.
func (c *Changer) Noise(x []float32, n Noise) {
	c.noise = audio.Sized(c.noise, len(x))
	if n.from != nil {
		n.from.loop(c.noise, n.start)
	} else {
		c.color(c.noise, n)
	}
	signal, noise := power(x), power(c.noise)
	if !(signal > 0 && noise > 0) {
		return
	}
	gain := float32(math.Sqrt(signal / noise * math.Pow(10, -n.SNR/10)))
	for i, v := range c.noise {
		x[i] += gain * v
	}
}

// NoiseBytes is what Noise keeps for an utterance of n samples, in bytes.
func NoiseBytes(n int) int64 { return 4 * int64(n) }

// power is the mean square of x around its mean, 0 for no samples.
func power(x []float32) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(max(len(x), 1))
	for _, v := range x {
		d := float64(v) - mean
		sum += d * d
	}
	return sum / float64(max(len(x), 1))
}

// color fills x with noise of a color, of any power.
func (c *Changer) color(x []float32, n Noise) {
	s := philox.NewStream(n.key, siteNoise)
	switch n.Color {
	case Hum:
		hum(x, s, c.rate)
	case Brown:
		white(x, s)
		tilt(x, c.rate, 2)
	case Pink:
		white(x, s)
		tilt(x, c.rate, 1)
	default:
		white(x, s)
	}
}

// white fills x with sums of four uniform numbers, which are nearly normal.
func white(x []float32, s *philox.Stream) {
	for i := range x {
		w := s.Uint64()
		x[i] = float32(int(w&0xffff+w>>16&0xffff+w>>32&0xffff+w>>48)-2*0xffff) / 0x10000
	}
}

// What tilt is made of: first-order sections from tiltHz on, one for each tiltStep in frequency.
const (
	tiltHz   = 20
	tiltStep = 4
)

// tilt has the power of white noise fall with the frequency to the given exponent, from tiltHz on: in each section the
// magnitude falls by 6 dB an octave from a pole on, up to a zero that stands exponent/2 of the way to the next pole.
// Interlaced poles and zeros come as close as their distance allows (Keshner, "1/f noise", Proceedings of the IEEE 70
// (3), 1982); with two octaves between poles the slope of pink noise is off by less than 0.5 dB.
func tilt(x []float32, rate int, exponent float64) {
	for hz := float64(tiltHz); hz < float64(rate)/2; hz *= tiltStep {
		pole := math.Exp(-2 * math.Pi * hz / float64(rate))
		zero := math.Exp(-2 * math.Pi * hz * math.Pow(tiltStep, exponent/2) / float64(rate))
		var in, out float64
		for i, v := range x {
			out = float64(v) - zero*in + pole*out
			in = float64(v)
			x[i] = float32(out)
		}
	}
}

// humHarmonics is the most harmonics that hum has.
const humHarmonics = 20

// hum fills x with harmonics of 50 or of 60 Hz below half of the rate: harmonic k has an amplitude from 0 to 1/k and
// any phase.
func hum(x []float32, s *philox.Stream, rate int) {
	mains := []int{50, 60}[s.IntN(2)]
	period := x[:min(len(x), rate/gcd(rate, mains))]
	clear(period)
	for k := 1; k <= humHarmonics; k++ {
		amplitude, phase := s.Float64()/float64(k), 2*math.Pi*s.Float64()
		step := 2 * math.Pi * float64(k*mains) / float64(rate)
		if 2*k*mains >= rate {
			break
		}
		for i := range period {
			period[i] += float32(amplitude * math.Sin(phase+step*float64(i)))
		}
	}
	for n := len(period); n > 0 && n < len(x); n *= 2 {
		copy(x[n:], x[:n])
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
