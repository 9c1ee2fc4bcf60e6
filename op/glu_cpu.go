package op

import "konkanitrain/internal/simd"

func (s glu) cpu() Kernel     { return Kernel{Run: s.runCPU} }
func (s gluGrad) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }

func (s glu) runCPU(_ *Env, y Tensor, in []Tensor) {
	for b := range s.b {
		n := valid(in[1].Ints, b, s.factor, s.t)
		x, y := block(in[0], b, s.b), block(y, b, s.b)
		for t := range n {
			row := x[t*2*s.d:][:2*s.d]
			simd.GLU(y[t*s.d:][:s.d], row[:s.d], row[s.d:])
		}
		clear(y[n*s.d:])
	}
}

func (s gluGrad) runCPU(_ *Env, dx Tensor, in []Tensor) {
	for b := range s.b {
		n := valid(in[1].Ints, b, s.factor, s.t)
		x, dy, dx := block(in[0], b, s.b), block(in[2], b, s.b), block(dx, b, s.b)
		for t := range n {
			row, drow := x[t*2*s.d:][:2*s.d], dx[t*2*s.d:][:2*s.d]
			simd.GLUGrad(drow[:s.d], drow[s.d:], row[:s.d], row[s.d:], dy[t*s.d:][:s.d])
		}
		clear(dx[n*2*s.d:])
	}
}
