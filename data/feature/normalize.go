package feature

import (
	"errors"
	"fmt"
	"math"
)

// DeviationFloor is the least deviation that normalization divides by: it keeps silence from being blown up.
const DeviationFloor = 1e-2

// Stats are the mean and the population deviation of each bin over a training set,
// the latter floored at 0.01. Save the two lists with the model.
type Stats struct {
	Frames    int64     // how many feature frames they come from
	Mean      []float64 // [bins]
	Deviation []float64 // [bins]
}

// Accumulator gathers Stats. It belongs to one goroutine; Merge joins several. Sums
// are float64, so the order of utterances changes the last digits only.
type Accumulator struct {
	frames       int64
	sum, squares []float64 // [bins]
}

// NewAccumulator starts at nothing.
func NewAccumulator(bins int) *Accumulator {
	return &Accumulator{sum: make([]float64, bins), squares: make([]float64, bins)}
}

// Add counts in features [T, bins] that are not normalized.
func (a *Accumulator) Add(features []float32) error {
	bins := len(a.sum)
	if bins == 0 || len(features)%bins != 0 {
		return fmt.Errorf("statistics of %d bins: %d features are no whole number of frames", bins, len(features))
	}
	for t := 0; t < len(features); t += bins {
		for i, v := range features[t : t+bins] {
			a.sum[i] += float64(v)
			a.squares[i] += float64(v) * float64(v)
		}
	}
	a.frames += int64(len(features) / bins)
	return nil
}

// Merge adds what another accumulator has gathered.
func (a *Accumulator) Merge(b *Accumulator) error {
	if len(a.sum) != len(b.sum) {
		return fmt.Errorf("statistics of %d and of %d bins can't be joined", len(a.sum), len(b.sum))
	}
	for i := range a.sum {
		a.sum[i] += b.sum[i]
		a.squares[i] += b.squares[i]
	}
	a.frames += b.frames
	return nil
}

// Stats gives what was gathered. The error says that there was nothing, or that it
// was not finite.
func (a *Accumulator) Stats() (*Stats, error) {
	if a.frames == 0 {
		return nil, errors.New("statistics: no frame was added; is every utterance too short?")
	}
	n := float64(a.frames)
	s := &Stats{Frames: a.frames, Mean: make([]float64, len(a.sum)), Deviation: make([]float64, len(a.sum))}
	for i := range a.sum {
		m := a.sum[i] / n
		d := math.Sqrt(max(0, a.squares[i]/n-m*m))
		if !(d < math.MaxFloat64) {
			return nil, fmt.Errorf("statistics: bin %d has mean %v and deviation %v", i, m, d)
		}
		s.Mean[i], s.Deviation[i] = m, max(d, DeviationFloor)
	}
	return s, nil
}

// utteranceStats writes the mean and the floored population deviation of each bin of
// x [T, bins], T > 0.
func utteranceStats(mean, deviation, x []float64) {
	bins := len(mean)
	n := float64(len(x) / bins)
	clear(mean)
	clear(deviation)
	for t := 0; t < len(x); t += bins {
		for i, v := range x[t : t+bins] {
			mean[i] += v
		}
	}
	for i := range mean {
		mean[i] /= n
	}
	for t := 0; t < len(x); t += bins {
		for i, v := range x[t : t+bins] {
			d := v - mean[i]
			deviation[i] += d * d
		}
	}
	for i, v := range deviation {
		deviation[i] = max(math.Sqrt(v/n), DeviationFloor)
	}
}

// normalize writes (x - mean) / deviation per bin, x and dst [T, bins].
func normalize(dst []float32, x, mean, deviation []float64) {
	bins := len(mean)
	for t := 0; t < len(x); t += bins {
		out := dst[t : t+bins]
		for i, v := range x[t : t+bins] {
			out[i] = float32((v - mean[i]) / deviation[i])
		}
	}
}
