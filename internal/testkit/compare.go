package testkit

import (
	"fmt"
	"math"
	"testing"
)

// Float is the element type of what is compared.
type Float interface{ ~float32 | ~float64 }

// RelErr is the norm-wise relative error |got - want| / |want| (Euclidean norms in float64), and |got| where
// want is all zero. It is +Inf if the lengths differ, or if anything is NaN or infinite.
func RelErr[T Float](got, want []T) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var diff, norm float64
	for i := range want {
		g, w := float64(got[i]), float64(want[i])
		diff += (g - w) * (g - w)
		norm += w * w
	}
	if norm > 0 {
		diff /= norm
	}
	return finite(math.Sqrt(diff))
}

// MaxAbs is the largest |got - want|. It is +Inf if the lengths differ, or if anything is NaN or infinite.
func MaxAbs[T Float](got, want []T) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range want {
		worst = max(worst, math.Abs(float64(got[i])-float64(want[i]))) // max hands a NaN on
	}
	return finite(worst)
}

// MaxRel is MaxAbs divided by the largest |want|: an error measured by the tensor's own largest element.
func MaxRel[T Float](got, want []T) float64 {
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(float64(w)))
	}
	worst := MaxAbs(got, want)
	if largest > 0 {
		worst /= largest
	}
	return finite(worst)
}

// finite makes NaN +Inf, so that no comparison with a tolerance lets it pass.
func finite(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// Close reports an error if MaxAbs(got, want) exceeds tol, with the place of the worst element. what names the
// compared thing. It says whether they were close.
func Close[T Float](t testing.TB, what string, got, want []T, tol float64) bool {
	t.Helper()
	return report(t, what, got, want, MaxAbs(got, want), tol, "largest difference")
}

// CloseRel is Close by the norm-wise RelErr.
func CloseRel[T Float](t testing.TB, what string, got, want []T, tol float64) bool {
	t.Helper()
	return report(t, what, got, want, RelErr(got, want), tol, "relative error (norms)")
}

func report[T Float](t testing.TB, what string, got, want []T, err, tol float64, measure string) bool {
	t.Helper()
	if err <= tol {
		return true
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return false
	}
	at := worst(got, want)
	place := ""
	if at >= 0 {
		place = fmt.Sprintf("; worst at [%d]: got %v, want %v", at, got[at], want[at])
	}
	t.Errorf("%s: %s %.3g exceeds %.3g%s", what, measure, err, tol, place)
	return false
}

// worst is the index of the largest difference, of the first NaN if there is one, and -1 for empty slices.
func worst[T Float](got, want []T) int {
	at, largest := -1, -1.0
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			return i
		}
		if d > largest {
			at, largest = i, d
		}
	}
	return at
}
