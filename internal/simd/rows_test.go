package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near fails unless got is within bound of want, or both are NaN or the same infinity.
func near(t *testing.T, what string, i, n int, got float32, want, bound float64) {
	t.Helper()
	g := float64(got)
	if g == want || math.IsNaN(g) && math.IsNaN(want) {
		return
	}
	if !(math.Abs(g-want) <= bound) {
		t.Fatalf("%s: element %d of %d is %g, want %g within %g", what, i, n, got, want, bound)
	}
}

// rowError is the largest relative error of a sum of n terms in float32: each lane adds n/8 numbers at most (where
// there are eight lanes), and the lanes are added in a few more steps. The plain tier accumulates in float64.
func rowError(n int) float64 { return (float64(n)/8 + 8) * ulp / 2 }

func TestSums(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(20)
		for _, n := range lengths() {
			a, checkA := operand(t, r, n, mixed(r))
			sum, sizeSum, squares, top := 0.0, 0.0, 0.0, math.Inf(-1)
			for i := range a {
				x := float64(a[i])
				sum, sizeSum = sum+x, sizeSum+math.Abs(x)
				squares, top = squares+x*x, max(top, x)
			}
			// float64 sums, rounded once: half an ulp of the result, and next to nothing of the terms.
			near(t, "Sum", 0, n, Sum(a), sum, ulp/2*math.Abs(sum)+1e-13*sizeSum)
			near(t, "Max", 0, n, Max(a), top, 0)
			if got := SumSquares(a); !(math.Abs(got-squares) <= 1e-13*squares) {
				t.Fatalf("SumSquares of %d elements is %g, want %g", n, got, squares)
			}
			checkA()
			if n == 0 {
				continue
			}
			// One NaN or infinity anywhere.
			at := r.IntN(n)
			old := a[at]
			for _, v := range []float32{float32(math.NaN()), math.Float32frombits(0xff800001 | 1<<22), float32(math.Inf(1)), float32(math.Inf(-1))} {
				a[at] = v
				x := float64(v)
				near(t, "Sum with a special number", 0, n, Sum(a), x, 0)
				near(t, "SumSquares with a special number", 0, n, float32(SumSquares(a)), x*x, 0)
				want := x
				if math.IsInf(x, -1) {
					want = math.Inf(-1)
					for i, y := range a {
						if i != at {
							want = max(want, float64(y))
						}
					}
				}
				near(t, "Max with a special number", 0, n, Max(a), want, 0)
			}
			a[at] = old
		}
	})
}

func TestSoftmax(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(21)
		for _, n := range lengths()[1:] {
			scale := []float64{0.1, 3, 40}[r.IntN(3)]
			x, checkX := operand(t, r, n, func() float32 { return float32(scale * r.NormFloat64()) })
			if n > 3 && r.IntN(2) == 0 {
				x[r.IntN(n)] = float32(math.Inf(-1)) // a masked position
			}
			top, total := math.Inf(-1), 0.0
			for _, v := range x {
				top = max(top, float64(v))
			}
			for _, v := range x {
				total += math.Exp(float64(v) - top)
			}
			p, checkP := operand(t, r, n, mixed(r))
			l, checkL := operand(t, r, n, mixed(r))
			Softmax(p, x)
			LogSoftmax(l, x)
			for i, v := range x {
				d := float64(v) - top
				want := math.Exp(d) / total
				// x-top is rounded: |d| half ulps in the exponent. Then exp, the sum, 1/sum and a product.
				// What is below the smallest normal number may be 0.
				relative := math.Abs(d)*ulp/2 + 3*ulp + rowError(n)
				if math.IsInf(d, -1) {
					relative = 0
				}
				near(t, "Softmax", i, n, p[i], want, relative*want+1.22e-38)
				// log(sum) to float32, top+log rounded, the difference rounded.
				logs := d - math.Log(total)
				near(t, "LogSoftmax", i, n, l[i], logs, rowError(n)+2*ulp+ulp*(math.Abs(top)+math.Abs(logs)+math.Log(total)))
			}
			dp, checkDP := operand(t, r, n, normal(r))
			ds, checkDS := operand(t, r, n, mixed(r))
			SoftmaxGrad(ds, p, dp)
			dot, size := 0.0, 0.0
			for i := range p {
				y := float64(p[i]) * float64(dp[i])
				dot, size = dot+y, size+math.Abs(y)
			}
			for i := range ds {
				q, g := float64(p[i]), float64(dp[i])
				near(t, "SoftmaxGrad", i, n, ds[i], q*(g-dot), q*(rowError(n)*size+2*ulp*(math.Abs(g)+math.Abs(dot)))+3e-45) // two roundings of subnormal numbers
			}
			for _, check := range []func(){checkX, checkP, checkL, checkDP, checkDS} {
				check()
			}
			// In place.
			inPlace := append([]float32(nil), x...)
			Softmax(inPlace, inPlace)
			if i := same(inPlace, p); i >= 0 {
				t.Fatalf("Softmax in place of %d: element %d is %g, want %g", n, i, inPlace[i], p[i])
			}
			copy(inPlace, x)
			LogSoftmax(inPlace, inPlace)
			if i := same(inPlace, l); i >= 0 {
				t.Fatalf("LogSoftmax in place of %d: element %d is %g, want %g", n, i, inPlace[i], l[i])
			}
			SoftmaxGrad(dp, p, dp)
			if i := same(dp, ds); i >= 0 {
				t.Fatalf("SoftmaxGrad in place of %d: element %d is %g, want %g", n, i, dp[i], ds[i])
			}
		}
	})
}

func TestSoftmaxSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachTier(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 8, 19, 40} {
			for _, c := range []struct {
				name      string
				all, last float32
			}{{"masked everywhere", -inf, -inf}, {"one NaN", 1, nan}, {"one +Inf", 1, inf}} {
				x := make([]float32, n)
				for i := range x {
					x[i] = c.all
				}
				x[n-1] = c.last
				y := make([]float32, n)
				Softmax(y, x)
				for i, v := range y {
					if v == v && !(c.last == inf && i < n-1) {
						t.Errorf("Softmax of %d elements, %s: element %d is %g, want NaN", n, c.name, i, v)
					}
				}
				LogSoftmax(y, x)
				if y[n-1] == y[n-1] {
					t.Errorf("LogSoftmax of %d elements, %s: the last is %g, want NaN", n, c.name, y[n-1])
				}
			}
			// Far apart: exactly one 1 and zeros; the logarithm stays finite.
			x, y := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = -1e30
			}
			x[0] = 1e30
			Softmax(y, x)
			for i, v := range y {
				if want := float32(0); (i == 0 && v != 1) || (i > 0 && v != want) {
					t.Errorf("Softmax of %d elements far apart: element %d is %g", n, i, v)
				}
			}
		}
	})
}

func TestBiasAndColumns(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(23)
		for _, d := range lengths() {
			rows := r.IntN(7)
			bias, checkBias := operand(t, r, d, normal(r))
			x, checkX := operand(t, r, rows*d, normal(r))
			set, checkSet := operand(t, r, rows*d, normal(r))
			sum, checkSum := operand(t, r, d, normal(r))
			old, oldSum := append([]float32(nil), x...), append([]float32(nil), sum...)
			SetRows(set, rows, bias)
			ColumnSum(sum, x, rows)
			for i := range set {
				if set[i] != bias[i%d] {
					t.Fatalf("d=%d element %d: SetRows gives %g, want %g", d, i, set[i], bias[i%d])
				}
			}
			for j := range sum {
				want := oldSum[j]
				for row := range rows {
					want += old[row*d+j] // the order is part of the contract, so the bits are
				}
				if sum[j] != want {
					t.Fatalf("ColumnSum of %d rows of %d: element %d is %g, want %g", rows, d, j, sum[j], want)
				}
			}
			for _, check := range []func(){checkBias, checkX, checkSet, checkSum} {
				check()
			}
		}
	})
}

// TestRowAlone: a row's result doesn't depend on where it lies in memory.
func TestRowAlone(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(24)
		for _, n := range []int{1, 7, 48, 191, 200, 768} {
			x, _ := operand(t, r, n, normal(r))
			want := make([]float32, n)
			Softmax(want, x)
			sum := Sum(x)
			for range 10 {
				y, check := operand(t, r, n, func() float32 { return 0 })
				copy(y, x)
				if Sum(y) != sum {
					t.Fatalf("Sum of %d elements depends on their address", n)
				}
				Softmax(y, y)
				check()
				if i := same(y, want); i >= 0 {
					t.Fatalf("Softmax of %d elements depends on their address", n)
				}
			}
		}
	})
}

func FuzzRows(f *testing.F) {
	f.Add(uint64(3), uint16(200))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := int(n%2000) + 1
		x, check := operand(t, r, size, mixed(r))
		y, checkY := operand(t, r, size, mixed(r))
		Softmax(y, x)
		total := 0.0
		for _, v := range y {
			total += float64(v)
		}
		if math.Abs(total-1) > 4*ulp+rowError(size)+float64(size)*1.2e-38 {
			t.Fatalf("Softmax of %d elements adds up to %g", size, total)
		}
		check()
		checkY()
	})
}
