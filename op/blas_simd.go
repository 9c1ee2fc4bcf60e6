//go:build !openblas

package op

import "konkanitrain/internal/simd"

// NewBLAS is the BLAS of this build, for one worker: it must not be shared by goroutines.
func NewBLAS() BLAS { return simd.NewWorkspace() }
