package op

import "konkanitrain/internal/simd"

func (s finite) cpu() Kernel { return Kernel{Run: s.runCPU} }

// finiteRun is the number of elements that one sum of squares judges: they are in the nearest cache when that fails.
const finiteRun = 4096

// runCPU sums the squares of a run of elements: no such sum is finite if an element isn't. One that is not finite may
// also have overflowed, so that the elements are looked at one by one.
func (finite) runCPU(_ *Env, y Tensor, in []Tensor) {
	y.Ints[0] = -1
	x := in[0].Data
	for at := 0; at < len(x); at += finiteRun {
		part := x[at:min(at+finiteRun, len(x))]
		if squares := simd.SumSquares(part); squares-squares == 0 {
			continue
		}
		for i, v := range part {
			if v-v != 0 {
				y.Ints[0] = int32(at + i)
				return
			}
		}
	}
}
