//go:build openblas

package testkit

// Products is the tolerance for what may depend on the order of a product's sums only: 0, as our kernels have one order
// for every row, or openblas in a build with that BLAS, which picks its kernels by the number of rows.
func Products(openblas float64) float64 { return openblas }
