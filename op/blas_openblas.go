//go:build openblas

package op

// #cgo LDFLAGS: -lopenblas
import "C"

import (
	"gonum.org/v1/netlib/blas/netlib"

	"konkanitrain/internal/simd"
)

// NewBLAS is the system's OpenBLAS, in a build with the tag openblas: for processors that the generated kernels
// don't serve, and as a cross-check of those. It needs cgo and the library's development files. Workers are
// what keeps the cores busy, so run it with OPENBLAS_NUM_THREADS=1.
func NewBLAS() BLAS { return netlib.Implementation{} }

// Kernels names the arithmetic in use: results are equal to the bit only where it is the same.
func Kernels() string { return simd.Name() + " with OpenBLAS" }

// WorkspaceBytes is what a BLAS of this build takes in memory for its own use: OpenBLAS keeps one pool for the whole
// process and doesn't say how large it is, so it is not counted.
const WorkspaceBytes = 0
