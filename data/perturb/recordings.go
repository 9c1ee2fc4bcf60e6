package perturb

import (
	"iter"
	"math"
)

// Recording is a sound that noise is taken from, with 16 bits a sample. It may be read by any number of goroutines.
type Recording struct {
	Name string
	wave []int16 // with a loudest sample of full scale
}

// NewRecording makes a recording of up to so many samples, whose level is of no matter. Its sound comes in stretches,
// in memory that the next one may overwrite, and comes twice: first the loudest sample is looked for. Nothing is kept
// of sound that gives no noise: all samples are equal, or not all are finite. The error is that of a stretch.
func NewRecording(name string, samples int, stretches iter.Seq2[[]float32, error]) (Recording, error) {
	low, high := math.Inf(1), math.Inf(-1)
	for wave, err := range stretches {
		if err != nil {
			return Recording{}, err
		}
		for _, v := range wave {
			low, high = min(low, float64(v)), max(high, float64(v)) // NaN stays
		}
	}
	if !(low < high) || math.IsInf(high-low, 0) {
		return Recording{}, nil
	}
	scale := math.MaxInt16 / max(high, -low)
	r := Recording{name, make([]int16, 0, samples)}
	for wave, err := range stretches {
		if err != nil {
			return Recording{}, err
		}
		for _, v := range wave[:min(len(wave), samples-len(r.wave))] {
			r.wave = append(r.wave, int16(math.RoundToEven(scale*float64(v))))
		}
	}
	return r, nil
}

// Len is the number of samples.
func (r *Recording) Len() int { return len(r.wave) }

// Bytes is what a recording of n samples takes.
func Bytes(n int) int64 { return 2 * int64(n) }

// loop fills x with the recording from a share of its length on, again and again.
func (r *Recording) loop(x []float32, start float64) {
	at := int(start * float64(len(r.wave)))
	for i := range x {
		x[i] = float32(r.wave[at])
		if at++; at == len(r.wave) {
			at = 0
		}
	}
}
