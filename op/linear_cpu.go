package op

import "konkanitrain/internal/simd"

func (s linear) cpu() Kernel           { return Kernel{Run: s.runCPU} }
func (s linearGradInput) cpu() Kernel  { return Kernel{Run: s.runCPU, Accumulates: true} }
func (s linearGradWeight) cpu() Kernel { return Kernel{Run: s.runCPU, Accumulates: true} }
func (s columnSum) cpu() Kernel        { return Kernel{Run: s.runCPU, Accumulates: true} }

func (s linear) runCPU(e *Env, y Tensor, in []Tensor) {
	n, i, o := s.n, s.i, s.o
	x, w := in[0].Data, in[1].Data
	if len(in) == 2 {
		e.BLAS.Sgemm(noTrans, trans, n, o, i, 1, x, i, w, i, 0, y.Data, o)
	} else if fused, ok := e.BLAS.(biasBLAS); ok {
		fused.SgemmBias(noTrans, trans, n, o, i, x, i, w, i, in[2].Data, y.Data, o)
	} else {
		simd.SetRows(y.Data, n, in[2].Data)
		e.BLAS.Sgemm(noTrans, trans, n, o, i, 1, x, i, w, i, 1, y.Data, o)
	}
}

func (s linearGradInput) runCPU(e *Env, dx Tensor, in []Tensor) {
	n, i, o := s.n, s.i, s.o
	e.BLAS.Sgemm(noTrans, noTrans, n, i, o, 1, in[0].Data, o, in[1].Data, i, e.beta(), dx.Data, i)
}

func (s linearGradWeight) runCPU(e *Env, dw Tensor, in []Tensor) {
	n, i, o := s.n, s.i, s.o
	e.BLAS.Sgemm(trans, noTrans, o, i, n, 1, in[0].Data, o, in[1].Data, i, e.beta(), dw.Data, i)
}

func (s columnSum) runCPU(e *Env, db Tensor, in []Tensor) {
	e.start(db.Data)
	simd.ColumnSum(db.Data, in[0].Data, s.n)
}
