package op

import "konkanitrain/internal/simd"

func (s crossEntropy) cpu() Kernel     { return Kernel{Run: s.runCPU, Scratch: floatBytes(s.v)} }
func (s crossEntropyGrad) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{1}} }

func (s crossEntropy) runCPU(e *Env, loss Tensor, in []Tensor) {
	logP := e.Scratch[:s.v]
	for b := range s.batch {
		x := block(in[0], b, s.batch)
		n := s.steps(in[2].Ints, b)
		sum := 0.0
		for l := range n {
			logProbabilities(logP, x[l*s.v:][:s.v])
			sum += (1 - s.e) * float64(logP[s.token(in[1].Ints, b, l, n)])
			if s.e > 0 {
				sum += s.e / float64(s.v) * float64(simd.Sum(logP))
			}
		}
		loss.Data[b] = float32(-sum)
	}
}

func (s crossEntropyGrad) runCPU(_ *Env, dx Tensor, in []Tensor) {
	for b := range s.batch {
		x, out := block(in[1], b, s.batch), block(dx, b, s.batch)
		n := s.steps(in[3].Ints, b)
		dloss := in[0].Data[b]
		uniform := float32(s.e / float64(s.v))
		for l := range n {
			row := out[l*s.v:][:s.v]
			simd.Softmax(row, x[l*s.v:][:s.v])
			for c, p := range row {
				row[c] = dloss * (p - uniform)
			}
			row[s.token(in[2].Ints, b, l, n)] -= dloss * float32(1-s.e)
		}
		clear(out[n*s.v:])
	}
}
