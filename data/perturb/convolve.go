package perturb

import (
	"math/bits"

	"konkanitrain/data/audio"
	"konkanitrain/data/fft"
)

// convolver convolves by FFT, block by block (overlap-save: Oppenheim and Schafer, "Discrete-Time Signal Processing",
// section 8.7.3). Two blocks of real samples are the real and the imaginary part of one transform.
type convolver struct {
	plans    map[int]*fft.Plan // by size
	x, y     []complex128      // a transform goes back and forth between them
	spectrum []complex128      // of the impulse response
}

// convolveSize is the size of the transforms for n samples, whose responses have at most so many taps.
func convolveSize(n, taps int) int { return 1 << max(2, bits.Len(uint(2*min(n, taps)-1))) }

// convolverBytes is what a convolver keeps after sounds of up to n samples, in bytes: plans of all sizes take twice
// what the largest does.
func convolverBytes(n, taps int) int64 {
	size := convolveSize(max(n, 1), taps)
	return 3*16*int64(size) + 2*fft.Bytes(size)
}

// convolve makes x[i] the sum over k of h[k] x[i-k], where x is 0 outside itself: what comes behind its end is cut off.
// There are taps numbers in h at most.
func (c *convolver) convolve(x, h []float32, taps int) {
	if len(x) == 0 {
		return
	}
	h = h[:min(len(h), len(x))]
	size := convolveSize(len(x), taps)
	if c.plans[size] == nil {
		if c.plans == nil {
			c.plans = map[int]*fft.Plan{}
		}
		c.plans[size] = fft.New(size)
	}
	plan := c.plans[size]
	c.x, c.y, c.spectrum = audio.Sized(c.x, size), audio.Sized(c.y, size), audio.Sized(c.spectrum, size)
	for i := range c.x {
		c.x[i] = 0
		if i < len(h) {
			c.x[i] = complex(float64(h[i])/float64(size), 0)
		}
	}
	copy(c.spectrum, plan.Transform(c.x, c.y))
	overlap := len(h) - 1
	block := size - overlap
	// From the last blocks to the first: what a block overlaps with is before it, and not yet changed.
	for at := (len(x) - 1) / block; at >= 0; at -= 2 {
		first, second := (at-1)*block, at*block
		for i := range c.x {
			c.x[i] = complex(sample(x, first-overlap+i), sample(x, second-overlap+i))
		}
		z := plan.Transform(c.x, c.y)
		for i, v := range z {
			v *= c.spectrum[i]
			c.x[i] = complex(real(v), -imag(v)) // whose transform is the conjugate of the inverse
		}
		z = plan.Transform(c.x, c.y)
		for i, v := range z[overlap:] {
			if k := first + i; k >= 0 {
				x[k] = float32(real(v))
			}
			if k := second + i; k < len(x) {
				x[k] = float32(-imag(v))
			}
		}
	}
}

// sample is x[i], 0 outside of x.
func sample(x []float32, i int) float64 {
	if i < 0 || i >= len(x) {
		return 0
	}
	return float64(x[i])
}
