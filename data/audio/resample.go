package audio

import (
	"math"
	"slices"
	"sync"
)

// The filter: a sinc under a Kaiser window (Kaiser and Schafer 1980) of 64 zero
// crossings a side. beta 8 keeps what is rejected 80 dB down, and 64 crossings make
// the band in which it gets there 7.5 % of the band that is kept, centred on 95 %:
// it ends below the Nyquist frequency, and nothing above -60 dB is mirrored.
const (
	sincZeros   = 64
	sincRolloff = 0.95
	sincBeta    = 8.0
)

// maxKernelFloats bounds the kernels that a Resampler keeps (64 MiB).
const maxKernelFloats = 16 << 20

// Resampler changes the rate and the speed of sound. It keeps the kernels of the
// ratios it has seen, and may be shared by goroutines.
type Resampler struct {
	mu      sync.Mutex
	kernels map[Ratio]*kernel
	floats  int // in all kernels together
}

// NewResampler returns a Resampler that has no kernels yet.
func NewResampler() *Resampler { return &Resampler{kernels: map[Ratio]*kernel{}} }

// Resample returns the samples at times 0, ratio, 2*ratio ... of x, ratio.Len(len(x))
// of them, low-passed at 95 % of the lower of the two Nyquist frequencies. x is zero
// outside itself. The result is in dst where its capacity suffices; dst must not
// overlap x.
func (r *Resampler) Resample(dst, x []float32, ratio Ratio) []float32 {
	n := ratio.Len(len(x))
	dst = slices.Grow(dst[:0], n)[:n]
	if ratio.One() {
		copy(dst, x)
		return dst
	}
	r.kernel(ratio.norm()).apply(dst, x)
	return dst
}

// kernel gives the kernel of a ratio, made at its first use.
func (r *Resampler) kernel(ratio Ratio) *kernel {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.kernels[ratio]; ok {
		return k
	}
	k := newKernel(ratio)
	if r.floats+len(k.w) > maxKernelFloats {
		clear(r.kernels)
		r.floats = 0
	}
	r.kernels[ratio] = k
	r.floats += len(k.w)
	return k
}

// kernel holds the polyphase form of the filter: output m = k*q + r is a product of
// row r with the inputs that start at k*p + r*p/q - reach.
type kernel struct {
	p, q, reach, taps int
	w                 []float32 // [q, taps]
}

func newKernel(ratio Ratio) *kernel {
	p, q := ratio.P, ratio.Q
	cut := sincRolloff * min(1, float64(q)/float64(p))
	half := sincZeros / cut
	reach := int(math.Ceil(half)) + 1
	k := &kernel{p: p, q: q, reach: reach, taps: 2*reach + 1}
	k.w = make([]float32, q*k.taps)
	top := bessel0(sincBeta)
	for r := range q {
		frac := float64(r*p%q) / float64(q)
		for j := range k.taps {
			u := float64(j-reach) - frac
			if math.Abs(u) > half {
				continue
			}
			window := bessel0(sincBeta*math.Sqrt(max(0, 1-(u/half)*(u/half)))) / top
			k.w[r*k.taps+j] = float32(cut * sinc(cut*u) * window)
		}
	}
	return k
}

// apply writes all of dst. Outputs of the same row are computed four at a time, so
// that a weight is loaded once for four products.
func (k *kernel) apply(dst, x []float32) {
	for r := range min(k.q, len(dst)) {
		w := k.w[r*k.taps:][:k.taps]
		start := r*k.p/k.q - k.reach
		m := r
		for ; m < len(dst) && start < 0; m, start = m+k.q, start+k.p {
			dst[m] = edge(w, x, start)
		}
		for ; m+3*k.q < len(dst) && start+3*k.p+k.taps <= len(x); m, start = m+4*k.q, start+4*k.p {
			dst[m], dst[m+k.q], dst[m+2*k.q], dst[m+3*k.q] = dot4(w, x[start:], k.p)
		}
		for ; m < len(dst); m, start = m+k.q, start+k.p {
			dst[m] = edge(w, x, start)
		}
	}
}

// dot4 is the products of w with x at 0, step, 2*step and 3*step.
func dot4(w, x []float32, step int) (a, b, c, d float32) {
	xa, xb, xc, xd := x[:len(w)], x[step:][:len(w)], x[2*step:][:len(w)], x[3*step:][:len(w)]
	for i, v := range w {
		a += v * xa[i]
		b += v * xb[i]
		c += v * xc[i]
		d += v * xd[i]
	}
	return
}

// edge is the product of w with the part of x from start on that exists.
func edge(w, x []float32, start int) float32 {
	lo, hi := max(0, -start), min(len(w), len(x)-start)
	if lo >= hi {
		return 0
	}
	sum := float32(0)
	x = x[start+lo : start+hi]
	for i, v := range w[lo:hi] {
		sum += v * x[i]
	}
	return sum
}

// sinc is sin(pi x)/(pi x).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// bessel0 is the modified Bessel function I0, by its power series: its terms are
// positive, so nothing cancels.
func bessel0(x float64) float64 {
	sum, term, q := 1.0, 1.0, x*x/4
	for k := 1.0; term > sum*1e-17; k++ {
		term *= q / (k * k)
		sum += term
	}
	return sum
}
