package simd

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// TestSgemmBias: a product with a bias is the product, plus the bias in each row. The two differ by the rounding of the
// sums that the bias is in: one, or as many as there are blocks of k, of values no larger than all terms together.
func TestSgemmBias(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r, w := source(7), NewWorkspace()
		for _, s := range [][3]int{{1, 1, 1}, {5, 7, 9}, {6, 16, 8}, {13, 33, 40}, {50, 192, 192}, {7, 20, maxDepth + 3}, {maxRows + 5, maxCols + 17, 3}} {
			m, n, k := s[0], s[1], s[2]
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				a, b, bias := make([]float32, m*k), make([]float32, k*n), make([]float32, n)
				for _, x := range [][]float32{a, b, bias} {
					for i := range x {
						x[i] = float32(r.NormFloat64())
					}
				}
				ldb := n
				if tB == blas.Trans {
					ldb = k
				}
				// C is full of NaN, with guards behind each row.
				ldc := n + 3
				plain, got := make([]float32, m*ldc), make([]float32, m*ldc)
				for i := range got {
					got[i] = float32(math.NaN())
				}
				w.Sgemm(blas.NoTrans, tB, m, n, k, 1, a, k, b, ldb, 0, plain, ldc)
				w.SgemmBias(blas.NoTrans, tB, m, n, k, a, k, b, ldb, bias, got, ldc)
				for i := range m {
					for j := range ldc {
						v := got[i*ldc+j]
						if j >= n {
							if v == v {
								t.Fatalf("%v: element (%d, %d) behind a row was written", s, i, j)
							}
							continue
						}
						want := plain[i*ldc+j] + bias[j]
						if d := math.Abs(float64(v - want)); !(d <= 2e-7*(size(a[i*k:][:k], b, j, ldb, tB)+math.Abs(float64(bias[j])))) {
							t.Fatalf("%v, transposed %v: element (%d, %d) is %g, want %g", s, tB == blas.Trans, i, j, v, want)
						}
					}
				}
			}
		}
	})
}

// size is the sum of the magnitudes of the terms of one element.
func size(a, b []float32, j, ldb int, tB blas.Transpose) float64 {
	sum := 0.0
	for l, v := range a {
		at := l*ldb + j
		if tB == blas.Trans {
			at = j*ldb + l
		}
		sum += math.Abs(float64(v) * float64(b[at]))
	}
	return sum
}
