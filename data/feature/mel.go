package feature

import "math"

// melFilter is one triangle: weights on the FFT bins from start on.
type melFilter struct {
	start   int
	weights []float64
}

// mel is the mel scale of HTK and Kaldi.
func mel(hz float64) float64 { return 1127 * math.Log1p(hz/700) }

// melFilters are triangles that are equal in width on the mel scale, each from the
// center of its left neighbor to that of its right one. The Nyquist bin has no weight.
func melFilters(rate, bins int, low, high float64) []melFilter {
	size := fftSize(rate)
	at := make([]float64, size/2)
	for i := range at {
		at[i] = mel(float64(i) * (float64(rate) / float64(size)))
	}
	bottom := mel(low)
	step := (mel(high) - bottom) / float64(bins+1)
	filters := make([]melFilter, bins)
	for b := range filters {
		left, center, right := bottom+step*float64(b), bottom+step*float64(b+1), bottom+step*float64(b+2)
		f := &filters[b]
		for i, m := range at {
			w := min((m-left)/(center-left), (right-m)/(right-center))
			if w <= 0 {
				continue
			}
			if len(f.weights) == 0 {
				f.start = i
			}
			f.weights = append(f.weights, w)
		}
	}
	return filters
}

// MelEmpty lists the mel filters, counted from 0, that no FFT bin reaches: with more
// bins than the spectrum can fill, some would be at the floor for any sound.
func MelEmpty(rate, bins int, low, high float64) []int {
	var empty []int
	for i, f := range melFilters(rate, bins, low, high) {
		if len(f.weights) == 0 {
			empty = append(empty, i)
		}
	}
	return empty
}
