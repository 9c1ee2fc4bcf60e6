//go:build !openblas

package op

import "konkanitrain/internal/simd"

// NewBLAS is the BLAS of this build, for one worker: it must not be shared by goroutines.
func NewBLAS() BLAS { return simd.NewWorkspace() }

// Kernels names the arithmetic in use: results are equal to the bit only where it is the same.
func Kernels() string { return simd.Name() }

// WorkspaceBytes is what a BLAS of this build takes in memory for its own use.
const WorkspaceBytes = simd.WorkspaceBytes
