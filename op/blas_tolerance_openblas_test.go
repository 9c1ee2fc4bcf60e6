//go:build openblas

package op

// productTolerance bounds how far a row of a product may move with its place in a batch: OpenBLAS picks its kernels by
// the number of rows, so sums of some tens of float32 products end a few roundings apart.
const productTolerance = 1e-6
