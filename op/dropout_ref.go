package op

import "konkanitrain/internal/philox"

func (s dropout) ref(y Array, in []Array) {
	factors := s.d.factors(in[1].Ints, s.batch, len(y.Data))
	for i, x := range in[0].Data {
		y.Data[i] = x * factors[i]
	}
}

// factors is what dropout multiplies each of n elements of a batch by: 0 or the scale.
func (d Drop) factors(seeds []int32, batch, n int) []float64 {
	f := make([]float64, n)
	size := n / batch
	for b := range batch {
		for j := range size {
			if philox.Draw16(seedOf(seeds, b), d.Site, 0, uint32(j)) >= d.threshold() {
				f[b*size+j] = d.scale()
			}
		}
	}
	return f
}
