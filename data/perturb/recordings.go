package perturb

import "math"

// Recording is a sound that noise is taken from, with 16 bits a sample. It may be read by any number of goroutines.
type Recording struct {
	Name string
	wave []int16 // with a loudest sample of full scale
}

// NewRecording makes a recording of a copy of a wave, whose level is of no matter. It is false for one that gives no
// noise: all of its samples are equal, or not all are finite.
func NewRecording(name string, wave []float32) (Recording, bool) {
	peak, p := float32(0), power(wave)
	for _, v := range wave {
		peak = max(peak, v, -v)
	}
	if !(p > 0 && p <= math.MaxFloat64) {
		return Recording{}, false
	}
	scale := math.MaxInt16 / float64(peak)
	r := Recording{name, make([]int16, len(wave))}
	for i, v := range wave {
		r.wave[i] = int16(math.RoundToEven(scale * float64(v)))
	}
	return r, true
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
