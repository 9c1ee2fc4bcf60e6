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

// mu is the constant of mu-law.
const mu = 255

// muLevels are the magnitudes that mu-law has: log(1 + mu x)/log(1 + mu) is a multiple of 1/127.
var muLevels = func() (levels [128]float32) {
	for i := range levels {
		levels[i] = float32(math.Expm1(float64(i)/127*math.Log1p(mu)) / mu)
	}
	return levels
}()

// muLaw rounds x to 8 bits by the curve of ITU-T G.711: the sign and one of the levels.
func muLaw(x []float32) {
	scale := 127 / math.Log1p(mu)
	for i, v := range x {
		level := muLevels[int(scale*math.Log1p(mu*min(math.Abs(float64(v)), 1))+0.5)&127]
		x[i] = float32(math.Copysign(float64(level), float64(v)))
	}
}

// section is a second-order section of a filter: direct form II, transposed.
type section struct{ b0, b1, a1, a2, s1, s2 float64 }

// butterworth filters x by a low-pass or high-pass of an even order, 3 dB down at hz, as a cascade of second-order
// sections by the bilinear transform: their qualities are those of the Butterworth poles, and their coefficients those
// of Bristow-Johnson's "Cookbook formulae for audio EQ biquad filter coefficients".
func butterworth(x []float32, rate int, hz float64, order int, high bool) {
	var room [lowPassOrder / 2]section
	sections := room[:order/2]
	sin, cos := math.Sincos(2 * math.Pi * hz / float64(rate))
	for k := range sections {
		alpha := sin * math.Cos(math.Pi*float64(2*k+1)/float64(2*order)) // sin/2q
		side, middle := (1-cos)/2, 1-cos
		if high {
			side, middle = (1+cos)/2, -(1 + cos)
		}
		sections[k] = section{b0: side / (1 + alpha), b1: middle / (1 + alpha), a1: -2 * cos / (1 + alpha), a2: (1 - alpha) / (1 + alpha)}
	}
	for i, v := range x {
		in := float64(v)
		for k := range sections {
			f := &sections[k]
			out := f.b0*in + f.s1
			f.s1 = f.b1*in - f.a1*out + f.s2
			f.s2 = f.b0*in - f.a2*out
			in = out
		}
		x[i] = float32(in)
	}
}
