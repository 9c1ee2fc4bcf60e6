package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// shape is one product to test.
type shape struct {
	tA, tB      blas.Transpose
	m, n, k     int
	lda, ldb    int
	ldc         int
	alpha, beta float32
}

func (s shape) String() string {
	return fmt.Sprintf("%c%c m=%d n=%d k=%d ld=%d,%d,%d alpha=%g beta=%g", s.tA, s.tB, s.m, s.n, s.k, s.lda, s.ldb, s.ldc, s.alpha, s.beta)
}

// random fills in transpositions, padded rows and factors.
func (s shape) random(r *rand.Rand) shape {
	s.tA, s.tB = blas.NoTrans, blas.NoTrans
	s.lda, s.ldb, s.ldc = s.k, s.n, s.n+r.IntN(3)*r.IntN(9)
	if r.IntN(2) == 0 {
		s.tA, s.lda = blas.Trans, s.m
	}
	if r.IntN(2) == 0 {
		s.tB, s.ldb = blas.Trans, s.k
	}
	s.lda += r.IntN(3) * r.IntN(9)
	s.ldb += r.IntN(3) * r.IntN(9)
	s.alpha = []float32{1, 1, -1, 0.5, 0}[r.IntN(5)]
	s.beta = []float32{0, 0, 1, 1, -0.25, float32(math.Copysign(0, -1))}[r.IntN(6)]
	return s
}

func checkSgemm(t *testing.T, r *rand.Rand, w *Workspace, s shape) {
	t.Helper()
	tA, tB := s.tA == blas.Trans, s.tB == blas.Trans
	a, checkA := operand(t, r, extent(tA, s.m, s.k, s.lda), normal(r))
	b, checkB := operand(t, r, extent(tB, s.k, s.n, s.ldb), normal(r))
	c, checkC := operand(t, r, (s.m-1)*s.ldc+s.n, normal(r))
	if s.beta == 0 { // then C must not be read
		for i := range c {
			c[i] = float32(math.NaN())
		}
	}
	old := append([]float32(nil), c...)
	w.Sgemm(s.tA, s.tB, s.m, s.n, s.k, s.alpha, a, s.lda, b, s.ldb, s.beta, c, s.ldc)
	checkA()
	checkB()
	checkC()
	for i := range c {
		row, col := i/s.ldc, i%s.ldc
		if col >= s.n {
			if math.Float32bits(c[i]) != math.Float32bits(old[i]) {
				t.Fatalf("%v: c[%d][%d] is outside of C and was changed", s, row, col)
			}
			continue
		}
		want, size := 0.0, 0.0
		for l := range s.k {
			x := float64(s.alpha) * float64(a[offset(tA, row, l, s.lda)]) * float64(b[offset(tB, l, col, s.ldb)])
			want += x
			size += math.Abs(x)
		}
		if s.beta != 0 {
			want += float64(s.beta) * float64(old[i])
			size += math.Abs(float64(s.beta) * float64(old[i]))
		}
		// Every rounding of a product or a partial sum is half an ulp of a number no larger than size: k products
		// (none with fused operations), k sums, alpha, beta and the additions of up to k/maxDepth+1 blocks.
		bound := float64(2*s.k+4+s.k/64) * size * 0x1p-24
		if d := math.Abs(float64(c[i]) - want); !(d <= bound) {
			t.Fatalf("%v: c[%d][%d] is %g, want %g within %g", s, row, col, c[i], want, bound)
		}
	}
}

// TestSgemm compares with float64 sums: sizes around every limit of tiles and blocks, then random ones.
func TestSgemm(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r, w := source(1), NewWorkspace()
		for m := 1; m <= 26; m++ {
			for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40} {
				for range 3 {
					checkSgemm(t, r, w, shape{m: m, n: n, k: 1 + r.IntN(40)}.random(r))
				}
			}
		}
		for _, s := range []shape{
			{m: 3, n: 5, k: 0}, {m: 25, n: 65, k: maxDepth}, {m: 7, n: 50, k: maxDepth + 1}, {m: 30, n: 20, k: 2*maxDepth + 7},
			{m: 20, n: maxCols + 3, k: 9}, {m: maxRows + 5, n: 30, k: 11}, {m: maxRows + 5, n: maxCols + 17, k: 3},
			{m: 200, n: 48, k: 200}, {m: 200, n: 200, k: 48}, {m: 64, n: 400, k: 48}, {m: 1, n: 192, k: 768},
		} {
			for range 8 {
				checkSgemm(t, r, w, s.random(r))
			}
		}
		for range 150 {
			checkSgemm(t, r, w, shape{m: 1 + r.IntN(60), n: 1 + r.IntN(80), k: 1 + r.IntN(100)}.random(r))
		}
	})
}

// TestSgemmRowAlone holds the product to batch invariance: a row has the same bits alone and among others, and a
// column has, for both layouts of both matrices.
func TestSgemmRowAlone(t *testing.T) {
	const m, n, k = 43, 77, 777
	eachTier(t, func(t *testing.T) {
		r, w := source(2), NewWorkspace()
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				lda, ldb := k, n
				if tA == blas.Trans {
					lda = m
				}
				if tB == blas.Trans {
					ldb = k
				}
				a, _ := operand(t, r, m*k, normal(r))
				b, _ := operand(t, r, k*n, normal(r))
				all := make([]float32, m*n)
				w.Sgemm(tA, tB, m, n, k, 0.7, a, lda, b, ldb, 0, all, n)
				for range 60 {
					i, j := r.IntN(m), r.IntN(n)
					rows, cols := 1+r.IntN(m-i), 1+r.IntN(n-j)
					part := make([]float32, rows*cols)
					w.Sgemm(tA, tB, rows, cols, k, 0.7, a[offset(tA == blas.Trans, i, 0, lda):], lda, b[offset(tB == blas.Trans, 0, j, ldb):], ldb, 0, part, cols)
					for x := range rows {
						if y := same(part[x*cols:][:cols], all[(i+x)*n+j:][:cols]); y >= 0 {
							t.Fatalf("%c%c: C[%d][%d] is %g in a product of %dx%d, %g in one of %dx%d", tA, tB, i+x, j+y, part[x*cols+y], rows, cols, all[(i+x)*n+j+y], m, n)
						}
					}
				}
			}
		}
	})
}

// TestSgemmNaN: a NaN or infinity in A, B or C reaches the elements that it is an operand of, and no other.
func TestSgemmNaN(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r, w := source(3), NewWorkspace()
		for range 50 {
			m, n, k := 1+r.IntN(20), 1+r.IntN(40), 1+r.IntN(30)
			a, _ := operand(t, r, m*k, normal(r))
			b, _ := operand(t, r, k*n, normal(r))
			c, _ := operand(t, r, m*n, normal(r))
			i, j := r.IntN(m), r.IntN(n)
			a[i*k+r.IntN(k)] = float32(math.NaN())
			b[r.IntN(k)*n+j] = float32(math.Inf(1))
			w.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, k, b, n, 1, c, n)
			for x, v := range c {
				finite := !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
				if finite == (x/n == i || x%n == j) {
					t.Fatalf("m,n,k=%d,%d,%d: c[%d][%d] is %g with a NaN in row %d and an infinity in column %d", m, n, k, x/n, x%n, v, i, j)
				}
			}
		}
	})
}

func FuzzSgemm(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint8(48), uint16(200))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, k uint16) {
		r := source(seed)
		checkSgemm(t, r, NewWorkspace(), shape{m: int(m) + 1, n: int(n) + 1, k: int(k % 700)}.random(r))
	})
}

func TestSgemmDoesNotAllocate(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		w, x, y := NewWorkspace(), make([]float32, 50*50), make([]float32, 50*50)
		if n := testing.AllocsPerRun(10, func() {
			w.Sgemm(blas.Trans, blas.Trans, 50, 50, 50, 1, x, 50, x, 50, 0, y, 50)
		}); n != 0 {
			t.Errorf("%v allocations per call", n)
		}
	})
}
