package perturb

import (
	"fmt"
	"math"

	"konkanitrain/internal/philox"
)

// What is left of a telephone's band (ITU-T G.712), in Hz.
const telephoneLow, telephoneHigh = 300, 3400

// Band is a narrow channel as it was drawn.
type Band struct {
	Telephone bool    // 300 to 3400 Hz, and 8 bits by mu-law
	High      float64 // Hz, above which nothing is left
}

// DrawBand draws the channel of sound at a rate in Hz: as likely as not a telephone, or else one that cuts what is
// above a frequency, as codecs of few bits do. That is drawn from 2500 Hz, or half of the Nyquist frequency where that
// is less, to 0.8 of the Nyquist frequency, all ratios being as likely.
func DrawBand(s *philox.Stream, rate int) Band {
	nyquist := float64(rate) / 2
	low, high := min(2500, nyquist/2), 0.8*nyquist
	b := Band{Telephone: s.IntN(2) == 0, High: low * math.Pow(high/low, s.Float64())}
	if b.Telephone {
		b.High = telephoneHigh
	}
	return b
}

// String says what the channel is: "telephone" or "nothing above 4210 Hz".
func (b Band) String() string {
	if b.Telephone {
		return "telephone, 300 to 3400 Hz with 8 bits of mu-law"
	}
	return fmt.Sprintf("nothing above %.0f Hz", b.High)
}

// Orders of Butterworth filters.
const lowPassOrder, highPassOrder = 8, 4

// Band sends x through a channel.
func (c *Changer) Band(x []float32, b Band) {
	low := b.High < float64(c.rate)/2
	if b.Telephone {
		butterworth(x, c.rate, telephoneLow, highPassOrder, true)
	}
	if low {
		butterworth(x, c.rate, b.High, lowPassOrder, false)
	}
	if b.Telephone {
		muLaw(x)
		if low {
			butterworth(x, c.rate, b.High, lowPassOrder, false) // as at the other end of the line
		}
	}
}

// muLaw rounds x to 8 bits by the curve of G.711: the sign, and 127 levels of log(1 + 255|x|).
func muLaw(x []float32) {
	const mu, levels = 255, 127
	for i, v := range x {
		level := math.RoundToEven(levels * math.Log1p(mu*min(math.Abs(float64(v)), 1)) / math.Log1p(mu))
		x[i] = float32(math.Copysign(math.Expm1(level/levels*math.Log1p(mu))/mu, float64(v)))
	}
}

// butterworth filters x by a low-pass or high-pass of an even order, 3 dB down at hz, as a cascade of second-order
// sections by the bilinear transform: their qualities are those of the Butterworth poles, and their coefficients those
// of Bristow-Johnson's "Cookbook formulae for audio EQ biquad filter coefficients".
func butterworth(x []float32, rate int, hz float64, order int, high bool) {
	sin, cos := math.Sincos(2 * math.Pi * hz / float64(rate))
	for k := range order / 2 {
		alpha := sin * math.Cos(math.Pi*float64(2*k+1)/float64(2*order)) // sin/2q
		side, middle := (1-cos)/2, 1-cos
		if high {
			side, middle = (1+cos)/2, -(1 + cos)
		}
		b0, b1 := side/(1+alpha), middle/(1+alpha)
		a1, a2 := -2*cos/(1+alpha), (1-alpha)/(1+alpha)
		var s1, s2 float64 // direct form II, transposed
		for i, v := range x {
			in := float64(v)
			out := b0*in + s1
			s1 = b1*in - a1*out + s2
			s2 = b0*in - a2*out
			x[i] = float32(out)
		}
	}
}
