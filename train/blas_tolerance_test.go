//go:build !openblas

package train

// productTolerance bounds how far an utterance's loss and gradient may move with its padding, its row and its batch: not
// at all, as our own kernels sum in one order wherever a row lies.
const productTolerance = 0
