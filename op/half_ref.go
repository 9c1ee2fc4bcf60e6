package op

import "math"

func (halfStore) ref(y Array, in []Array) {
	for i, x := range in[0].Data {
		y.Data[i] = toHalf(x)
	}
}

func (halfLoad) ref(y Array, in []Array) { copy(y.Data, in[0].Data) }

// toHalf is the float16 value nearest to x: 11 significant bits, the last of which stands for 2^-24 at least.
func toHalf(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	unit := math.Ldexp(1, max(math.Ilogb(x)-10, -24))
	y := math.RoundToEven(x/unit) * unit
	if math.Abs(y) > 65504 {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return y
}
