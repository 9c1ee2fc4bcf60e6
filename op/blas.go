package op

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"konkanitrain/internal/simd"
)

// BLAS is the one product that kernels need, with the signature of gonum's blas.Float32Level3: any
// implementation of that interface fits, such as gonum's own or netlib's (a system BLAS).
//
//	C [m, n] = alpha * op(A) [m, k] · op(B) [k, n] + beta * C, all row-major; beta = 0 doesn't read C.
type BLAS interface {
	Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)
}

// biasBLAS is a BLAS that adds a bias [n] to each row of a product on the way: C = op(A) · op(B) + bias.
type biasBLAS interface {
	SgemmBias(tA, tB blas.Transpose, m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int)
}

// Gonum is gonum's pure Go BLAS: the cross-check.
type Gonum = gonum.Implementation

const (
	noTrans = blas.NoTrans
	trans   = blas.Trans
)

// Limits measures what one core can do at most, in some 50 milliseconds: floating-point operations a second, and bytes
// read and written a second. Profiles show how near kernels come.
func Limits() (flops, bytes float64) { return simd.Limits() }
