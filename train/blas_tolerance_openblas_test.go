//go:build openblas

package train

// productTolerance bounds how far an utterance's loss and gradient may move with its padding, its row and its batch:
// OpenBLAS picks its kernels by the number of rows, and the roundings of its sums end up to 9e-7 apart.
const productTolerance = 1.5e-6
