package feature

import (
	"math"

	"konkanitrain/data/audio"
	"konkanitrain/internal/frames"
)

// bank computes log-mel energies at one rate. It belongs to one goroutine.
type bank struct {
	rate, size, shift int       // Hz; samples of a window and between windows
	window            []float64 // [size], the povey window times the sample scale
	fft               *realFFT
	log               *logTable
	power             []float64 // [fft/2]
	edge              []float32 // [size], a window that reaches over an edge
}

func newBank(o Options) *bank {
	size := windowSize(o.SampleRate)
	b := &bank{
		rate: o.SampleRate, size: size, shift: o.SampleRate / 100,
		window: make([]float64, size), edge: make([]float32, size),
		fft: newRealFFT(fftSize(o.SampleRate)), log: newLogTable(),
	}
	b.power = make([]float64, b.fft.n/2)
	for i := range b.window {
		b.window[i] = o.SampleScale * povey(i, size)
	}
	return b
}

// povey is the weight of sample i in a window of so many: that of a Hann window to the power 0.85, which is what Kaldi
// calls povey.
func povey(i, size int) float64 {
	hann := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(size-1))
	return math.Pow(hann, 0.85)
}

// compute appends the log-mel energies [T, bins] of wave, bins being that of the filters, to dst[:0].
func (b *bank) compute(dst []float64, wave []float32, filters []melFilter) ([]float64, int) {
	n, bins := frames.Count(len(wave), b.rate), len(filters)
	dst = audio.Sized(dst, n*bins)
	for t := range n {
		start := t*b.shift + b.shift/2 - b.size/2
		if start >= 0 && start+b.size <= len(wave) {
			b.load(wave[start : start+b.size])
		} else {
			reflect(b.edge, wave, start)
			b.load(b.edge)
		}
		b.fft.power(b.power)
		row := dst[t*bins : (t+1)*bins]
		for i := range row {
			f := &filters[i]
			p := b.power[f.start:][:len(f.weights)]
			sum := 0.0
			for j, w := range f.weights {
				sum += w * p[j]
			}
			row[i] = b.log.at(max(sum, LogFloor))
		}
	}
	return dst, n
}

// load puts one window into the FFT: minus its mean, pre-emphasized, windowed, padded
// with zeros.
func (b *bank) load(x []float32) {
	var s0, s1 float64
	for i := 0; i+1 < len(x); i += 2 {
		s0 += float64(x[i])
		s1 += float64(x[i+1])
	}
	if len(x)%2 == 1 {
		s0 += float64(x[len(x)-1])
	}
	mean := (s0 + s1) / float64(len(x))
	w, z := b.window[:len(x)], b.fft.a
	last := float64(x[0]) - mean // Kaldi takes the first sample as its own predecessor
	for i := 0; i+1 < len(x); i += 2 {
		even, odd := float64(x[i])-mean, float64(x[i+1])-mean
		z[i/2] = complex(w[i]*(even-Preemphasis*last), w[i+1]*(odd-Preemphasis*even))
		last = odd
	}
	filled := len(x) / 2
	if i := len(x) - 1; i%2 == 0 {
		z[filled] = complex(w[i]*(float64(x[i])-mean-Preemphasis*last), 0)
		filled++
	}
	clear(z[filled:])
}

// reflect fills a window whose first sample is x[start]. Samples outside the wave are
// mirrored at its edges, again and again where the wave is shorter than what is
// missing: ..., x[1], x[0] | x[0], x[1], ..., x[n-1] | x[n-1], ...
func reflect(window, x []float32, start int) {
	n := len(x)
	for i := range window {
		at := (start + i) % (2 * n)
		if at < 0 {
			at += 2 * n
		}
		if at >= n {
			at = 2*n - 1 - at
		}
		window[i] = x[at]
	}
}
