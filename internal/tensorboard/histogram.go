package tensorboard

import "math"

// Histogram counts values in one pass and in a fixed memory of 16 KB. Buckets are quarters of an octave, on both sides
// of 0; all within 2^-20 of the largest value are in one around 0. Zero is an empty histogram.
type Histogram struct {
	counts              [2][1 << 10]int64 // below 0, and from 0 on: by the exponent and two bits of the mantissa
	n                   int64
	min, max, sum, sqrs float64
}

// quarter are the bits of a float32 below those that choose a bucket.
const quarter = 21

// Add counts a finite value.
func (h *Histogram) Add(x float32) {
	bits := math.Float32bits(x)
	h.counts[1-bits>>31][bits<<1>>1>>quarter]++
	v := float64(x)
	if h.n == 0 {
		h.min, h.max = v, v
	}
	h.n++
	h.min, h.max = min(h.min, v), max(h.max, v)
	h.sum += v
	h.sqrs += v * v
}

// Norm is the root of the sum of the values' squares.
func (h *Histogram) Norm() float64 { return math.Sqrt(h.sqrs) }

// octaves below the largest magnitude that have buckets of their own.
const octaves = 20

// Buckets are the counts, from the lowest value on.
func (h *Histogram) Buckets() *Buckets {
	b := &Buckets{Min: h.min, Max: h.max, Num: float64(h.n), Sum: h.sum, Squares: h.sqrs}
	top := func(side int) int {
		i := len(h.counts[side]) - 1
		for i >= 0 && h.counts[side][i] == 0 {
			i--
		}
		return i
	}
	below, above := top(0), top(1)
	inner := max(below, above, 0) - 4*octaves // up to here in the bucket around 0
	inner = max(inner, 0)
	edge := func(i int) float64 {
		return min(float64(math.Float32frombits(uint32(i)<<quarter)), math.MaxFloat32)
	}
	add := func(limit float64, count int64) {
		b.Limits, b.Counts = append(b.Limits, limit), append(b.Counts, float64(count))
	}
	for i := below; i > inner; i-- {
		add(-edge(i), h.counts[0][i])
	}
	middle := int64(0)
	for side := range h.counts {
		for i := range inner + 1 {
			middle += h.counts[side][i]
		}
	}
	add(edge(inner+1), middle)
	for i := inner + 1; i <= above; i++ {
		add(edge(i+1), h.counts[1][i])
	}
	return b
}
