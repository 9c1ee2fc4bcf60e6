package audio

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// kernel holds the polyphase form of the filter: output m = k*q + r is a product of
// row r with the inputs that start at k*p + r*p/q - reach.
type kernel struct {
	p, q, reach, taps int
	w                 []float32 // [q, taps]

	period int     // outputs after which the blocks repeat, a multiple of q
	blocks []block // see arrange
}

// block computes some neighboring outputs of a period as one matrix: their inputs
// overlap nearly wholly, so the zeros that fill it up cost little.
type block struct {
	first, count int       // outputs of the period
	start, width int       // inputs: start is relative to the period's first input, with reach zeros before it
	w            []float32 // [width, count]
}

// newKernel is the kernel of a ratio without weights: what it will take is known from it.
func newKernel(ratio Ratio) *kernel {
	p, q := ratio.P, ratio.Q
	k := &kernel{p: p, q: q}
	_, half := k.cutoff()
	k.reach = int(math.Ceil(half)) + 1
	k.taps = 2*k.reach + 1
	return k
}

// cutoff is the highest frequency that is kept, as a share of the input's Nyquist frequency, and where the filter ends,
// in input samples from its middle.
func (k *kernel) cutoff() (cut, half float64) {
	cut = sincRolloff * min(1, float64(k.q)/float64(k.p))
	return cut, sincZeros / cut
}

// fill computes the weights. All of them lie in one piece of memory: of many small ones, rounded up each, the heap
// would take more than bytes says.
func (k *kernel) fill() {
	cut, half := k.cutoff()
	room := make([]float32, k.floats())
	take := func(n int) (part []float32) {
		part, room = room[:n:n], room[n:]
		return part
	}
	k.w = take(k.q * k.taps)
	top := bessel0(sincBeta)
	for r := range k.q {
		frac := float64(r*k.p%k.q) / float64(k.q)
		for j := range k.taps {
			u := float64(j-k.reach) - frac
			if math.Abs(u) > half {
				continue
			}
			window := bessel0(sincBeta*math.Sqrt(max(0, 1-(u/half)*(u/half)))) / top
			k.w[r*k.taps+j] = float32(cut * sinc(cut*u) * window)
		}
	}
	for i := range k.blocks {
		b := &k.blocks[i]
		b.w = take(b.width * b.count)
		k.fillBlock(b)
	}
}

// blockOutputs is how many outputs a block computes, a multiple of the widths that the
// vector kernels work on. Above maxBlockRatio inputs an output, blocks would be large,
// and few outputs are left to compute anyway.
const (
	blockOutputs  = 64
	maxBlockRatio = 16
)

// arrange says how multiply goes about it.
func (k *kernel) arrange() {
	repeat := max(1, blockOutputs/k.q)
	k.period = repeat * k.q
	for first := 0; first < k.period; first += blockOutputs {
		b := block{first: first, count: min(blockOutputs, k.period-first), start: first * k.p / k.q}
		b.width = (first+b.count-1)*k.p/k.q - b.start + k.taps
		k.blocks = append(k.blocks, b)
	}
}

// fillBlock lays the weights out for multiply.
func (k *kernel) fillBlock(b *block) {
	for i := range b.count {
		m := b.first + i
		at := m*k.p/k.q - b.start
		for j, v := range k.w[m%k.q*k.taps:][:k.taps] {
			b.w[(at+j)*b.count+i] = v
		}
	}
}

// floats is the memory of the kernel's weights.
func (k *kernel) floats() int {
	n := k.q * k.taps
	for _, b := range k.blocks {
		n += b.width * b.count
	}
	return n
}

// heapPage is what Go's allocator rounds memory of more than 32 KiB up to, in bytes.
const heapPage = 8 << 10

// bytes is what the heap gives for the kernel's weights; of those below 32 KiB it gives less than a page less.
func (k *kernel) bytes() int64 {
	return (4*int64(k.floats()) + heapPage - 1) / heapPage * heapPage
}

// paddedLen is how long the input of multiply is with zeros around it.
func (k *kernel) paddedLen(in, out int) int {
	return max(k.reach+in, out/k.period*(k.period/k.q*k.p)+k.taps) + k.reach
}

// multiply writes all of dst by matrix products: row i of the left matrix is the input
// of period i, which overlaps with that of period i+1.
func (k *kernel) multiply(dst, x []float32, s *scratch) {
	periods := len(dst) / k.period
	step := k.step()
	s.padded = Sized(s.padded, k.paddedLen(len(x), len(dst)))
	clear(s.padded[:k.reach])
	copy(s.padded[k.reach:], x)
	clear(s.padded[k.reach+len(x):])
	if periods > 0 {
		for i := range k.blocks {
			s.multiply(dst, s.padded, k, &k.blocks[i], periods, step)
		}
	}
	for m := periods * k.period; m < len(dst); m++ {
		dst[m] = edge(k.w[m%k.q*k.taps:][:k.taps], x, m*k.p/k.q-k.reach)
	}
}

// multiply writes the outputs of a block in each of some periods. padded starts with the first period's inputs.
func (s *scratch) multiply(dst, padded []float32, k *kernel, b *block, periods, step int) {
	s.work.Sgemm(blas.NoTrans, blas.NoTrans, periods, b.count, b.width, 1, padded[b.start:], step,
		b.w, b.count, 0, dst[b.first:], k.period)
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
