package op

import "math"

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func swishRef(batch int, d Drop) func(Array, []Array) {
	return func(y Array, in []Array) {
		for i, x := range in[0].Data {
			y.Data[i] = x * sigmoid(x)
		}
		if len(in) == 2 {
			for i, f := range d.factors(in[1].Ints, batch, len(y.Data)) {
				y.Data[i] *= f
			}
		}
	}
}

func swishGradRef(batch int, d Drop) func(Array, []Array) {
	return func(dx Array, in []Array) {
		x, dy := in[0].Data, in[1].Data
		for i := range dx.Data {
			s := sigmoid(x[i])
			dx.Data[i] = dy[i] * s * (1 + x[i]*(1-s))
		}
		if len(in) == 3 {
			for i, f := range d.factors(in[2].Ints, batch, len(dx.Data)) {
				dx.Data[i] *= f
			}
		}
	}
}
