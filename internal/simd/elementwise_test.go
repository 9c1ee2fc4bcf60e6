package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// elementOp is a function of single elements. Its reference returns, for one element of each input, the result in
// float64 and the size of what was added up for it; the result may differ by rel*size + abs.
type elementOp struct {
	name     string
	inputs   int
	call     func(dst []float32, in [][]float32)
	ref      func(in []float64) (want, size float64)
	rel, abs float64
}

const ulp = 0x1p-23 // of 1: a rounding is within half of it

func sigma(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func whole(want float64) (float64, float64) { return want, math.Abs(want) }

// elementOps lists the functions. Sigmoids take exp as 0 below 1.22e-38, so products with them carry that as abs:
// 1.22e-38 times one or two factors of up to 110.
var elementOps = []elementOp{
	{"Exp", 1, func(d []float32, in [][]float32) { Exp(d, in[0]) },
		func(v []float64) (float64, float64) { return whole(math.Exp(v[0])) },
		2e-7, 1.5e-45}, // stated in the doc comment; the smallest subnormal number is 1.4e-45
	{"Swish", 1, func(d []float32, in [][]float32) { Swish(d, in[0]) },
		func(v []float64) (float64, float64) { return whole(v[0] * sigma(v[0])) },
		2.7 * ulp, 1.4e-36}, // exp 1.5 halves, then a sum, a quotient and a product
	{"SwishGrad", 2, func(d []float32, in [][]float32) { SwishGrad(d, in[0], in[1]) },
		func(v []float64) (float64, float64) {
			s, t := sigma(v[0]), sigma(-v[0])
			return v[1] * s * (1 + v[0]*t), math.Abs(v[1]) * s * (1 + math.Abs(v[0])*t)
		}, 5 * ulp, 1.6e-34}, // two sigmoids (2.7 each with 1/d rounded apart), fused sum, two products
	{"Relu", 1, func(d []float32, in [][]float32) { Relu(d, in[0]) },
		func(v []float64) (float64, float64) { return max(v[0], 0), 0 }, 0, 0},
	{"ReluGrad", 2, func(d []float32, in [][]float32) { ReluGrad(d, in[0], in[1]) },
		func(v []float64) (float64, float64) {
			if v[0] > 0 {
				return v[1], 0
			}
			return 0, 0
		}, 0, 0},
	{"GLU", 2, func(d []float32, in [][]float32) { GLU(d, in[0], in[1]) },
		func(v []float64) (float64, float64) { return whole(v[0] * sigma(v[1])) }, 2.7 * ulp, 1.4e-36},
	{"GLUGrad/a", 3, func(d []float32, in [][]float32) { GLUGrad(d, make([]float32, len(d)), in[0], in[1], in[2]) },
		func(v []float64) (float64, float64) { return whole(v[2] * sigma(v[1])) }, 3.2 * ulp, 1.4e-36},
	{"GLUGrad/b", 3, func(d []float32, in [][]float32) { GLUGrad(make([]float32, len(d)), d, in[0], in[1], in[2]) },
		func(v []float64) (float64, float64) { return whole(v[2] * v[0] * sigma(v[1]) * sigma(-v[1])) }, 6 * ulp, 1.6e-34},
	{"Add", 2, func(d []float32, in [][]float32) { Add(d, in[0], in[1]) },
		func(v []float64) (float64, float64) { return whole(v[0] + v[1]) }, 0.5 * ulp, 0},
	{"AddScaled", 2, func(d []float32, in [][]float32) { AddScaled(d, in[0], 0.3, in[1]) },
		func(v []float64) (float64, float64) {
			x := float64(float32(0.3)) * v[1]
			return v[0] + x, math.Abs(v[0]) + 2*math.Abs(x)
		}, 0.5 * ulp, 1.5e-45}, // two roundings, or one where fused
	{"Axpy", 2, func(d []float32, in [][]float32) { copy(d, in[0]); Axpy(d, 0.3, in[1]) },
		func(v []float64) (float64, float64) {
			x := float64(float32(0.3)) * v[1]
			return v[0] + x, math.Abs(v[0]) + 2*math.Abs(x)
		}, 0.5 * ulp, 1.5e-45},
	{"Approach", 2, func(d []float32, in [][]float32) { copy(d, in[0]); Approach(d, 0.3, in[1]) },
		func(v []float64) (float64, float64) {
			way := float64(float32(0.3)) * float64(float32(v[1]-v[0]))
			return v[0] + way, math.Abs(v[0]) + 2*math.Abs(way)
		}, 0.5 * ulp, 1.5e-45},
	{"Scale", 1, func(d []float32, in [][]float32) { Scale(d, 0.3, in[0]) },
		func(v []float64) (float64, float64) { return whole(float64(float32(0.3)) * v[0]) }, 0.5 * ulp, 1.5e-45},
	{"MulAdd", 3, func(d []float32, in [][]float32) { copy(d, in[0]); MulAdd(d, in[1], in[2]) },
		func(v []float64) (float64, float64) {
			x := v[1] * v[2]
			return v[0] + x, math.Abs(v[0]) + 2*math.Abs(x)
		}, 0.5 * ulp, 1.5e-45},
}

// mixed draws numbers of all sizes that the network and its failures meet.
func mixed(r *rand.Rand) func() float32 {
	return func() float32 {
		switch r.IntN(8) {
		case 0:
			return float32(220*r.Float64() - 110)
		case 1:
			return float32(r.NormFloat64() * 1e-3)
		case 2:
			return 0
		}
		return float32(3 * r.NormFloat64())
	}
}

func (o elementOp) check(t *testing.T, r *rand.Rand, n int, value func() float32) {
	t.Helper()
	in, single := make([][]float32, o.inputs), make([][]float32, o.inputs)
	var checks []func()
	for i := range in {
		x, check := operand(t, r, n, value)
		in[i], checks = x, append(checks, check)
	}
	dst, check := operand(t, r, n, value)
	o.call(dst, in)
	check()
	for _, check := range checks {
		check()
	}
	args := make([]float64, o.inputs)
	for i, got := range dst {
		for a := range args {
			args[a] = float64(in[a][i])
			single[a] = in[a][i : i+1]
		}
		want, size := o.ref(args)
		if want32 := float64(float32(want)); math.IsInf(want32, 0) && float64(got) == want32 {
			continue
		}
		if d := math.Abs(float64(got) - want); !(d <= o.rel*size+o.abs) {
			t.Fatalf("%s of %v is %g, want %g within %g (element %d of %d)", o.name, args, got, want, o.rel*size+o.abs, i, n)
		}
		// The same bits alone: a value doesn't depend on its place.
		one := []float32{0}
		o.call(one, single)
		if math.Float32bits(one[0]) != math.Float32bits(got) {
			t.Fatalf("%s of %v is %g alone and %g as element %d of %d", o.name, args, one[0], got, i, n)
		}
	}
	// dst may be any of the inputs. The ones that copy into dst first are in place by themselves.
	if o.name == "Axpy" || o.name == "Approach" || o.name == "MulAdd" {
		return
	}
	for a := range in {
		shared := make([][]float32, len(in))
		for i := range in {
			shared[i] = append([]float32(nil), in[i]...)
		}
		o.call(shared[a], shared)
		if i := same(shared[a], dst); i >= 0 {
			t.Fatalf("%s in place of input %d: element %d is %g, want %g", o.name, a, i, shared[a][i], dst[i])
		}
	}
}

func TestElementwise(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := source(10)
		for _, o := range elementOps {
			for _, n := range lengths() {
				o.check(t, r, n, mixed(r))
			}
		}
	})
}

// TestExpRange walks through all of exp's range, to subnormal results and beyond both ends.
func TestExpRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var x []float32
		for v := -106.0; v < 90; v += 0.00037 {
			x = append(x, float32(v))
		}
		x = append(x, -87.33655, -87.336, -103.97, -103.98, -104, 88.72283, 88.72284, 1e-30, -1e-30, 1e-45, 1e30, -1e30)
		y := make([]float32, len(x))
		Exp(y, x)
		worst := 0.0
		for i, got := range y {
			want := math.Exp(float64(x[i]))
			if want > math.MaxFloat32 {
				if !math.IsInf(float64(got), 1) && want > math.MaxFloat32*(1+2e-7) {
					t.Fatalf("exp(%g) is %g, want +Inf", x[i], got)
				}
				continue
			}
			d := math.Abs(float64(got) - want)
			if !(d <= 2e-7*want+1.5e-45) {
				t.Fatalf("exp(%g) is %g, want %g", x[i], got, want)
			}
			if want > 0x1p-126 {
				worst = max(worst, d/want)
			}
		}
		t.Logf("largest relative error of exp: %.3g", worst)
	})
}

// TestElementwiseSpecial: NaN and infinities come out where the definition in float64 gives them. Left out are
// infinities beside numbers whose sigmoid is below the
// smallest normal number (it is 0 here, and 0*Inf is NaN) or whose product overflows (Inf-Inf is, unless fused).
func TestElementwiseSpecial(t *testing.T) {
	special := []float32{
		float32(math.NaN()), math.Float32frombits(0x7fffffff), math.Float32frombits(0xffc00001),
		float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
		1, -1, math.MaxFloat32, -math.MaxFloat32, 89, -89,
	}
	eachTier(t, func(t *testing.T) {
		for _, o := range elementOps {
			args, in := make([]float64, o.inputs), make([][]float32, o.inputs)
			for code := range int(math.Pow(float64(len(special)), float64(o.inputs))) {
				largest, extreme, infinite := 1.0, false, false
				for a, rest := 0, code; a < o.inputs; a, rest = a+1, rest/len(special) {
					v := special[rest%len(special)]
					args[a] = float64(v)
					size := math.Abs(args[a])
					if size > largest { // not NaN
						largest = size
					}
					extreme = extreme || size == 89 || size == math.MaxFloat32
					infinite = infinite || math.IsInf(size, 1)
					in[a] = []float32{1, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, v}
				}
				if extreme && infinite {
					continue
				}
				dst := make([]float32, 17)
				o.call(dst, in)
				want, size := o.ref(args)
				for _, i := range []int{1, 16} {
					got := float64(dst[i])
					switch bound := o.rel*size + o.abs*largest*largest; {
					case math.IsNaN(want) || math.IsNaN(got):
						if math.IsNaN(want) != math.IsNaN(got) {
							t.Fatalf("%s of %v is %g, want %g", o.name, args, got, want)
						}
					case float64(float32(want)) == got: // also infinities
					case math.Abs(want)+bound >= math.MaxFloat32 && math.IsInf(got, 0): // rounds to either side of the limit
					case !(math.Abs(got-want) <= bound):
						t.Fatalf("%s of %v is %g, want %g within %g", o.name, args, got, want, bound)
					}
				}
			}
		}
	})
}

func FuzzElementwise(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint16(37))
	f.Fuzz(func(t *testing.T, seed uint64, op uint8, n uint16) {
		r := source(seed)
		elementOps[int(op)%len(elementOps)].check(t, r, int(n%600), mixed(r))
	})
}
