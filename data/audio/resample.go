package audio

import (
	"sync"

	"konkanitrain/internal/simd"
)

// The filter: a sinc under a Kaiser window (Kaiser and Schafer 1980) of 64 zero
// crossings a side. beta 8 keeps what is rejected 80 dB down, and 64 crossings make
// the band in which it gets there 7.5 % of the band that is kept, centered on 95 %:
// it ends below the Nyquist frequency, and nothing above -60 dB is mirrored.
const (
	sincZeros   = 64
	sincRolloff = 0.95
	sincBeta    = 8.0
)

// maxKernelBytes bounds the kernels that a Resampler keeps.
const maxKernelBytes = 64 << 20

// Resampler changes the rate and the speed of sound. It keeps the kernels of the
// ratios it has seen, and may be shared by goroutines.
type Resampler struct {
	mu      sync.Mutex
	kernels map[Ratio]*kernel
	bytes   int64      // of all kernels together
	idle    []*scratch // of goroutines that are done
	fast    bool       // as matrix products: where the CPU has vector kernels for them
}

// scratch is what one goroutine needs during a Resample.
type scratch struct {
	work   *simd.Workspace
	padded []float32 // the input between zeros
}

// NewResampler returns a Resampler that has no kernels yet.
func NewResampler() *Resampler {
	return &Resampler{kernels: map[Ratio]*kernel{}, fast: simd.Name() != "go"}
}

// Resample returns the samples at times 0, ratio, 2*ratio ... of x, ratio.Len(len(x))
// of them, low-passed at 95 % of the lower of the two Nyquist frequencies. x is zero
// outside itself. The result is in dst where its capacity suffices; dst must not
// overlap x.
func (r *Resampler) Resample(dst, x []float32, ratio Ratio) []float32 {
	n := ratio.Len(len(x))
	dst = Sized(dst, n)
	if ratio.One() {
		copy(dst, x)
		return dst
	}
	k, s := r.kernel(ratio.norm())
	if s == nil {
		k.apply(dst, x)
		return dst
	}
	k.multiply(dst, x, s)
	r.mu.Lock()
	r.idle = append(r.idle, s)
	r.mu.Unlock()
	return dst
}

// kernel gives the kernel of a ratio, made at its first use, and scratch space if it
// works in blocks.
func (r *Resampler) kernel(ratio Ratio) (*kernel, *scratch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.kernels[ratio]
	if !ok {
		k = r.outline(ratio)
		k.fill()
		if r.bytes+k.bytes() > maxKernelBytes {
			clear(r.kernels)
			r.bytes = 0
		}
		r.kernels[ratio] = k
		r.bytes += k.bytes()
	}
	if len(k.blocks) == 0 {
		return k, nil
	}
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return k, s
	}
	return k, &scratch{work: simd.NewWorkspace()}
}

// outline is the kernel of a ratio without its weights.
func (r *Resampler) outline(ratio Ratio) *kernel {
	k := newKernel(ratio)
	if r.fast && ratio.P <= maxBlockRatio*ratio.Q {
		k.arrange()
	}
	return k
}
