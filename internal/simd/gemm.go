package simd

import (
	"unsafe"

	"gonum.org/v1/gonum/blas"
)

// Blocking. A panel of B [depth][cols] stays in the first-level cache while rows of A pass by; the packed block of B
// stays in the second level. The depth of a block depends on k alone, so that the order of summation does as well.
const (
	maxDepth = 320  // of a block: 320*16*4 bytes of B are 20 KB
	maxCols  = 1024 // of a packed block of B, a multiple of every tile width
	maxRows  = 384  // of a packed block of A
	slack    = 64   // floats beyond a packed block, and between the panels of A, that whole-vector stores may touch
)

// Workspace is where Sgemm packs its operands. One serves any number of products of any size, one after the other: each
// goroutine needs its own.
type Workspace struct {
	a, b    []float32
	product product // the call in progress
}

// WorkspaceBytes is what a workspace takes: some 2 MB.
const WorkspaceBytes = 4 * (maxRows*(maxDepth+slack) + maxCols*(maxDepth+slack) + 2*line)

// NewWorkspace returns a workspace of [WorkspaceBytes].
func NewWorkspace() *Workspace {
	return &Workspace{a: aligned(maxRows * (maxDepth + slack)), b: aligned(maxCols * (maxDepth + slack))}
}

// line is a cache line, in floats.
const line = 64 / 4

// aligned allocates n floats from the start of a cache line on.
func aligned(n int) []float32 {
	room := make([]float32, n+line)
	start := 0
	for uintptr(unsafe.Pointer(&room[start]))%64 != 0 {
		start++
	}
	return room[start:][:n:n]
}

// product is one call of Sgemm.
type product struct {
	tA, tB      bool
	m, n, k     int
	alpha, beta float32
	a, b, c     []float32
	bias        []float32 // [n], added where beta is 0; nil for none
	lda, ldb    int
	ldc         int
}

// Sgemm computes C = alpha*op(A)*op(B) + beta*C with row-major matrices; it is gonum's blas.Float32Level3.Sgemm.
//
//	op(A) [m, k]: A [m, k], or with blas.Trans A [k, m]
//	op(B) [k, n]: B [k, n], or with blas.Trans B [n, k]
//	C     [m, n]
//
// lda, ldb and ldc are the distances between stored rows. C is not read where beta is 0, A and B are not where alpha
// or k is 0. Each element is summed over k in one order, which k and the tier decide: a row's result is the same bits
// for every m, n and place in the matrix.
func (w *Workspace) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m <= 0 || n <= 0 {
		return
	}
	c = c[:(m-1)*ldc+n]
	if alpha == 0 || k <= 0 {
		scaleC(m, n, beta, c, ldc)
		return
	}
	w.multiply(product{tA: tA != blas.NoTrans, tB: tB != blas.NoTrans, m: m, n: n, k: k, alpha: alpha, beta: beta, c: c, lda: lda, ldb: ldb, ldc: ldc}, a, b)
}

// SgemmBias computes C = op(A)*op(B) + bias, with bias [n] added to each row: a linear layer in one pass over C. m, n
// and k must be 1 or more. Otherwise it is Sgemm.
func (w *Workspace) SgemmBias(tA, tB blas.Transpose, m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int) {
	w.multiply(product{tA: tA != blas.NoTrans, tB: tB != blas.NoTrans, m: m, n: n, k: k, alpha: 1, c: c[:(m-1)*ldc+n], lda: lda, ldb: ldb, ldc: ldc, bias: bias[:n]}, a, b)
}

// multiply runs a product that isn't empty.
func (w *Workspace) multiply(p product, a, b []float32) {
	p.a = a[:extent(p.tA, p.m, p.k, p.lda)]
	p.b = b[:extent(p.tB, p.k, p.n, p.ldb)]
	w.product = p
	active.gemm(w, &w.product)
	w.product = product{}
}

// extent is how many floats op(x) [rows, cols] takes.
func extent(transposed bool, rows, cols, ld int) int {
	if transposed {
		rows, cols = cols, rows
	}
	return (rows-1)*ld + cols
}

// scaleC is what is left of a product of nothing: C = beta*C.
func scaleC(m, n int, beta float32, c []float32, ldc int) {
	for i := range m {
		row := c[i*ldc:][:n]
		if beta == 0 {
			clear(row)
		} else if beta != 1 {
			Scale(row, beta, row)
		}
	}
}

// depths is how many equal blocks k is cut into, and the depth of all but the last.
func depths(k int) (blocks, depth int) {
	blocks = (k + maxDepth - 1) / maxDepth
	return blocks, (k + blocks - 1) / blocks
}

// offset is the index of element (i, j) of op(x).
func offset(transposed bool, i, j, ld int) int {
	if transposed {
		i, j = j, i
	}
	return i*ld + j
}
