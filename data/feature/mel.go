package feature

import "math"

// melFilter is one triangle: weights on the FFT bins from start on.
type melFilter struct {
	start   int
	weights []float64
}

// mel is the mel scale of HTK and Kaldi.
func mel(hz float64) float64 { return 1127 * math.Log1p(hz/700) }

// filterBank is mel filters, and the memory that they are made in again and again.
type filterBank struct {
	filters []melFilter
	weights []float64 // of all filters, one behind the other: each FFT bin is in two at most
	at      []float64 // [fft/2], where the FFT bins lie on the mel scale
}

func newFilterBank(o Options) *filterBank {
	half := fftSize(o.SampleRate) / 2
	return &filterBank{filters: make([]melFilter, o.NumMels), weights: make([]float64, 0, 2*half), at: make([]float64, half)}
}

// fill makes triangles that are equal in width on the mel scale, each from the center of its left neighbor to that of
// its right one. A frequency counts as the one that the warp makes of it. The Nyquist bin has no weight.
func (b *filterBank) fill(o Options, w warp) {
	rate, size := o.SampleRate, fftSize(o.SampleRate)
	for i := range b.at {
		b.at[i] = mel(w.hz(float64(i) * (float64(rate) / float64(size))))
	}
	bottom := mel(o.LowHz)
	step := (mel(o.High()) - bottom) / float64(len(b.filters)+1)
	b.weights = b.weights[:0]
	from := 0 // the first FFT bin that this filter or a later one may reach
	for k := range b.filters {
		left, center, right := bottom+step*float64(k), bottom+step*float64(k+1), bottom+step*float64(k+2)
		for from < len(b.at) && b.at[from] <= left {
			from++
		}
		f := &b.filters[k]
		f.start = 0
		first := len(b.weights)
		for i := from; i < len(b.at) && b.at[i] < right; i++ {
			w := min((b.at[i]-left)/(center-left), (right-b.at[i])/(right-center))
			if w <= 0 {
				continue
			}
			if len(b.weights) == first {
				f.start = i
			}
			b.weights = append(b.weights, w)
		}
		f.weights = b.weights[first:]
	}
}

// empty lists the filters, counted from 0, that no FFT bin reaches.
func (b *filterBank) empty() []int {
	var empty []int
	for i, f := range b.filters {
		if len(f.weights) == 0 {
			empty = append(empty, i)
		}
	}
	return empty
}

// melEmpty lists the mel filters, counted from 0, that no FFT bin reaches: with more bins than the spectrum can fill,
// some would be at the floor for any sound.
func (o Options) melEmpty() []int {
	b := newFilterBank(o)
	b.fill(o, unwarped)
	return b.empty()
}
