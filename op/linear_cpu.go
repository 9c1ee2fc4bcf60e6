package op

import "konkanitrain/internal/simd"

// Dimensions below: n rows, i inputs, o outputs.

func linearCPU(n, i, o int) func(*Env, Tensor, []Tensor) {
	return func(e *Env, y Tensor, in []Tensor) {
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
}

func linearGradInputCPU(n, i, o int) func(*Env, Tensor, []Tensor) {
	return func(e *Env, dx Tensor, in []Tensor) {
		e.BLAS.Sgemm(noTrans, noTrans, n, i, o, 1, in[0].Data, o, in[1].Data, i, e.beta(), dx.Data, i)
	}
}

func linearGradWeightCPU(n, i, o int) func(*Env, Tensor, []Tensor) {
	return func(e *Env, dw Tensor, in []Tensor) {
		e.BLAS.Sgemm(trans, noTrans, o, i, n, 1, in[0].Data, o, in[1].Data, i, e.beta(), dw.Data, i)
	}
}

func columnSumCPU(n int) func(*Env, Tensor, []Tensor) {
	return func(e *Env, db Tensor, in []Tensor) {
		e.start(db.Data)
		simd.ColumnSum(db.Data, in[0].Data, n)
	}
}

// beta is the factor of what out holds already: 1 when adding to it.
func (e *Env) beta() float32 {
	if e.Add {
		return 1
	}
	return 0
}

// start prepares out for a kernel that adds to it.
func (e *Env) start(out []float32) {
	if !e.Add {
		clear(out)
	}
}
