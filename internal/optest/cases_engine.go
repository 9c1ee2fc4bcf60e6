package optest

import (
	"fmt"
	"math"

	"konkanitrain/op"
)

// engineCases are about the ops that an engine adds to a graph.
func engineCases() (cases []Case) {
	r := Rand(81)
	for _, shape := range [][]int{{1}, {3, 61}} {
		cases = append(cases,
			Case{Name: fmt.Sprint("sum/", shape), Make: func() *op.Op { return op.NewSum(shape) }, In: []op.Array{Floats(r, shape...), Floats(r, shape...)}, Tol: 1e-7, Why: "one rounding"},
			Case{Name: fmt.Sprint("accumulate/", shape), Make: func() *op.Op { return op.NewAccumulate(shape) }, In: []op.Array{Floats(r, shape...)}, Why: exactly},
		)
	}

	// Ordinary numbers; ties between two neighbors, to either side; the ends of the range and what lies beyond; numbers
	// below the smallest normal one, and below the smallest of all.
	hard := Values(
		1, -1, 0.1, 3.14159, 1+0x1p-11, 1+3*0x1p-11, -1-0x1p-11, 65504, 65519, 65520, -65520, 1e30, 0, 0x1p-14, 0x1.ffcp-15,
		0x1p-24, 0x1p-25, 1.5*0x1p-25, -0x1p-26, 3*0x1p-25, 1e-30, math.Inf(1), math.Inf(-1), math.NaN(),
	)
	n := len(hard.Data)
	random := Floats(r, 1001)
	loaded := op.Array{Shape: []int{1 << 16}}
	for bits := range 1 << 16 {
		loaded.Data = append(loaded.Data, halfValue(uint16(bits)))
	}
	const half = "one rounding, specified to the bit"
	cases = append(cases,
		Case{Name: "half.store/hard numbers", Make: func() *op.Op { return op.NewHalfStore(n) }, In: []op.Array{hard}, Why: half},
		Case{Name: "half.store/an odd number of them", Make: func() *op.Op { return op.NewHalfStore(1001) }, In: []op.Array{random}, Why: half},
		Case{Name: "half.load/all numbers", Make: func() *op.Op { return op.NewHalfLoad(1 << 16) }, In: []op.Array{loaded}, Why: exactly},
		Case{Name: "half.load/one", Make: func() *op.Op { return op.NewHalfLoad(1) }, In: []op.Array{Values(0.5)}, Why: exactly},
	)

	for _, workers := range []int{1, 2, 5} {
		for _, n := range []int{1, 1003} {
			var in []op.Array
			for range workers {
				in = append(in, Floats(r, n))
			}
			cases = append(cases, Case{
				Name: fmt.Sprintf("reduce/%d workers, %d", workers, n), Make: func() *op.Op { return op.NewReduce(n, workers) }, In: in,
				Tol: 1e-6, Why: "up to four sums in float32 of terms that may cancel; squares in float64",
			})
		}
	}
	return cases
}

// optimizerCases are about the ops of an update and of what is made of its weights.
func optimizerCases() (cases []Case) {
	r := Rand(82)
	for _, c := range []struct {
		name string
		n, t int
		set  op.AdamSettings
	}{
		{"first update", 1003, 1, op.AdamSettings{LR: 1e-2, Decay: 0.01, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, GradScale: 1}},
		{"a later one, clipped, without decay", 37, 1000, op.AdamSettings{LR: 1e-3, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, GradScale: 0.25}},
		{"one weight, a large eps", 1, 3, op.AdamSettings{LR: 0.5, Decay: 0.5, Beta1: 0.5, Beta2: 0.5, Eps: 0.1, GradScale: 2}},
	} {
		constants := make([]float32, 8)
		c.set.Step(c.t).Put(constants)
		second := Floats(r, c.n)
		for i, v := range second.Data {
			second.Data[i] = math.Abs(v)
		}
		cases = append(cases, Case{
			Name: "adamw/" + c.name, Make: func() *op.Op { return op.NewAdamW(c.n) },
			In: []op.Array{
				Floats(r, c.n), Floats(r, c.n), second, Floats(r, c.n), NewArray(op.Tensor{Data: constants, Shape: []int{8}}),
			},
			Tol: 1e-6, Why: "a dozen roundings in float32, of terms as large as the result",
		})
	}

	for _, share := range []float64{1e-4, 9. / 11, 1} {
		for _, n := range []int{1, 1003} {
			cases = append(cases, Case{
				Name: fmt.Sprintf("ema/share %.2g, %d", share, n), Make: func() *op.Op { return op.NewEMA(n) },
				In:  []op.Array{Floats(r, n), Floats(r, n), Values(float64(float32(share)))},
				Tol: 7.2e-7, Size: 1, Why: "a difference, a product and a sum of numbers below 8: three roundings of 2.4e-7 at most",
			})
		}
	}

	const n = 10000 // more than the kernel judges at a time
	largest := make([]float64, n)
	for i := range largest {
		largest[i] = math.MaxFloat32
	}
	cases = append(cases,
		finiteCase("random numbers", Floats(r, n).Data),
		finiteCase("the largest numbers", largest),
		finiteCase("one number", []float64{-3}),
	)
	for _, at := range []int{0, 1, 4095, 4096, 8191, n - 1} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			x := Floats(r, n).Data
			x[at], x[n-1] = bad, bad // the first one is what is asked for
			cases = append(cases, finiteCase(fmt.Sprint(bad, " at ", at), x))
		}
	}

	const exact = "y is rounded as well, so that a sum may become the next number: 4.8e-7 away between 4 and 8"
	small := Floats(r, 301)
	for i, v := range small.Data {
		small.Data[i] = float64(float32(v * 1e-7))
	}
	return append(cases,
		Case{Name: "mean.add/sum", Make: func() *op.Op { return op.NewMeanAdd(301) }, In: []op.Array{Floats(r, 301), {Data: make([]float64, 301), Shape: []int{301}}, Floats(r, 301)}, Tol: 5e-7, Size: 1, Why: exact},
		Case{Name: "mean.add/sum with something lost", Make: func() *op.Op { return op.NewMeanAdd(301) }, In: []op.Array{Floats(r, 301), small, Floats(r, 301)}, Tol: 5e-7, Size: 1, Why: exact},
		Case{Name: "mean.end/third", Make: func() *op.Op { return op.NewMeanEnd(301, 3) }, In: []op.Array{Floats(r, 301)}, Tol: 1e-7, Why: "one division"},
		Case{Name: "mean.end/one", Make: func() *op.Op { return op.NewMeanEnd(5, 1) }, In: []op.Array{Floats(r, 5)}, Why: exactly},
	)
}

func finiteCase(name string, x []float64) Case {
	return Case{Name: "finite/" + name, Make: func() *op.Op { return op.NewFinite(len(x)) }, In: []op.Array{Values(x...)}, Why: exactly}
}
