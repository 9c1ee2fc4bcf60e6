//go:build !openblas

package op

// productTolerance bounds how far a row of a product may move with its place in a batch: not at all, as our own
// kernels sum over k in one order wherever a row lies.
const productTolerance = 0
