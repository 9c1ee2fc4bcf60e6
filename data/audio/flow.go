package audio

import "konkanitrain/internal/simd"

// flowInputs is about how many samples a Flow gathers before it computes with them.
const flowInputs = 1 << 14

// Flow resamples sound that comes piece by piece, in memory that doesn't depend on its length. What it gives is what
// [Resampler.Resample] gives of all pieces joined, to the bit. One goroutine uses it.
type Flow struct {
	r     *Resampler
	ratio Ratio
	k     *kernel
	s     *scratch // nil where outputs are computed one by one

	in   []float32 // what the next output is made of, and all behind it; reach zeros stand before the first input
	fed  int       // inputs so far
	made int       // outputs so far
}

// Flow begins to resample.
func (r *Resampler) Flow(ratio Ratio) *Flow {
	f := &Flow{r: r, ratio: ratio.norm()}
	if !f.ratio.One() {
		f.k, f.s = r.kernel(f.ratio)
		f.in = make([]float32, f.k.reach, f.k.reach+2*flowInputs)
	}
	return f
}

// FlowBytes is what a Flow takes whose Put is given n samples at a time at most, in bytes, without the kernel and what
// Put appends to.
func (r *Resampler) FlowBytes(n int, ratio Ratio) int64 {
	if ratio.One() {
		return 0
	}
	k := r.outline(ratio.norm())
	bytes := 4 * growing * int64(2*k.taps+k.reach+k.step()+flowInputs+n)
	if len(k.blocks) > 0 {
		bytes += simd.WorkspaceBytes
	}
	return bytes
}

// growing is how much larger than what it holds a slice may be that grew by appending.
const growing = 2

// Put takes the next samples and appends to dst what can be computed by now.
func (f *Flow) Put(dst, x []float32) []float32 {
	if f.k == nil {
		return append(dst, x...)
	}
	f.fed += len(x)
	f.in = append(f.in, x...)
	if len(f.in) < f.k.taps+f.k.step()+flowInputs {
		return dst
	}
	return f.make(dst, false)
}

// End appends the rest to dst. The Flow must not be used any more.
func (f *Flow) End(dst []float32) []float32 {
	if f.k == nil {
		return dst
	}
	dst = f.make(dst, true)
	if f.s != nil {
		f.r.mu.Lock()
		f.r.idle = append(f.r.idle, f.s)
		f.r.mu.Unlock()
	}
	f.in, f.s = nil, nil
	return dst
}

// step is how many inputs a period of blocks goes on, or else of rows.
func (k *kernel) step() int {
	if len(k.blocks) > 0 {
		return k.period / k.q * k.p
	}
	return k.p
}

// make computes what all inputs are there for, whole periods at a time; at the end the rest, with zeros behind. Which
// outputs are computed as a block of their period and which one by one is as in multiply.
func (f *Flow) make(dst []float32, end bool) []float32 {
	k, step, period := f.k, f.k.step(), f.k.q
	if f.s != nil {
		period = k.period
	}
	have := len(f.in)
	periods := max((have-k.taps)/step, 0) // of which the last output has its last input
	if end {
		periods = (f.ratio.Len(f.fed) - f.made) / period
		f.in = append(f.in, make([]float32, k.taps+step+k.reach)...)
	}
	if periods > 0 {
		from := len(dst)
		dst = append(dst, make([]float32, periods*period)...)
		f.compute(dst[from:], periods, step)
		f.made += periods * period
		f.in = f.in[:copy(f.in, f.in[periods*step:])]
	}
	if end {
		for first := f.made; f.made < f.ratio.Len(f.fed); f.made++ {
			m := f.made - first
			dst = append(dst, product(k.w[m%k.q*k.taps:][:k.taps], f.in[m*k.p/k.q:]))
		}
	}
	return dst
}

// compute writes whole periods.
func (f *Flow) compute(dst []float32, periods, step int) {
	k := f.k
	if f.s == nil {
		for m := range dst {
			dst[m] = product(k.w[m%k.q*k.taps:][:k.taps], f.in[m*k.p/k.q:])
		}
		return
	}
	for i := range k.blocks {
		b := &k.blocks[i]
		f.s.multiply(dst, f.in, k, b, periods, step)
	}
}

// product is that of w with the start of x.
func product(w, x []float32) float32 {
	sum := float32(0)
	x = x[:len(w)]
	for i, v := range w {
		sum += v * x[i]
	}
	return sum
}
