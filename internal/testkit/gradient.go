package testkit

import (
	"math"
	"testing"
)

// directions is how many random directions GradCheck tries.
const directions = 4

// Slope is the derivative of f at x in direction dir by central differences, with one step of Richardson
// extrapolation: (4 D(h/2) - D(h)) / 3, D(h) = (f(x + h dir) - f(x - h dir)) / 2h. Its error is of the order
// h^4 plus rounding/h; h = 1e-3 suits float64 functions whose values and slopes are near 1. x is left as it was.
func Slope(f func(x []float64) float64, x, dir []float64, h float64) float64 {
	moved := make([]float64, len(x))
	at := func(step float64) float64 {
		for i := range x {
			moved[i] = x[i] + step*dir[i]
		}
		return f(moved)
	}
	central := func(h float64) float64 { return (at(h) - at(-h)) / (2 * h) }
	return (4*central(h/2) - central(h)) / 3
}

// GradCheck holds grad, the analytic gradient of f at x, to finite differences in a few random directions. The
// error is |slope - grad·dir| / (|grad| |dir|), which is the part of the gradient that is wrong, and must not
// exceed tol (about 1e-9 is within reach of a smooth float64 function; a kink, as of ReLU, near x is not
// smooth). A gradient of all zeros is compared absolutely. f must be a pure function of its argument.
func GradCheck(t testing.TB, what string, f func(x []float64) float64, x, grad []float64, tol float64) {
	t.Helper()
	if len(x) != len(grad) {
		t.Errorf("%s: %d gradients of %d variables", what, len(grad), len(x))
		return
	}
	for seed := range uint64(directions) {
		dir := Normal[float64](seed+1, len(x))
		length := math.Sqrt(dot(dir, dir))
		for i := range dir {
			dir[i] /= max(length, math.SmallestNonzeroFloat64)
		}
		slope, want := Slope(f, x, dir, 1e-3), dot(grad, dir)
		err := math.Abs(slope - want)
		if norm := math.Sqrt(dot(grad, grad)); norm > 0 {
			err /= norm
		}
		if !(err <= tol) {
			t.Errorf("%s: in direction %d finite differences give the slope %.12g, the gradient %.12g: error %.3g exceeds %.3g",
				what, seed, slope, want, err, tol)
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
