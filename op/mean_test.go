package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// A thousand vectors are summed with the rounding of one sum; plain sums of them are off by many.
func TestMeanKeepsWhatRoundingTakes(t *testing.T) {
	const n, count = 50, 1000
	add, err1 := op.NewMeanAdd(n).Kernel(op.CPU)
	end, err2 := op.NewMeanEnd(n, count).Kernel(op.CPU)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	r := optest.Rand(8)
	zeros := func() op.Tensor { return op.Tensor{Data: make([]float32, n), Shape: []int{n}} }
	sum, lost, x, plain, exact := zeros(), zeros(), zeros(), make([]float32, n), make([]float64, n)
	for range count {
		for i := range n {
			x.Data[i] = 1 + float32(r.NormFloat64())*1e-3
			plain[i] += x.Data[i]
			exact[i] += float64(x.Data[i])
		}
		add.Run(&op.Env{}, sum, []op.Tensor{sum, lost, x})
	}
	end.Run(&op.Env{}, sum, []op.Tensor{sum})
	worst := 0.0
	for i, want := range exact {
		exact[i] = want / count
		worst = max(worst, float64(plain[i])/want-1, 1-float64(plain[i])/want)
	}
	closeTo(t, "mean", sum.Data, exact, 1.2e-7) // the sum and the quotient are rounded once each
	if worst < 5e-7 {
		t.Errorf("plain sums are off by %g only: this test tells nothing", worst)
	}
}
