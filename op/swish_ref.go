package op

import "math"

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func (s swish) ref(y Array, in []Array) {
	for i, x := range in[0].Data {
		y.Data[i] = x * sigmoid(x)
	}
	if len(in) == 2 {
		for i, f := range s.d.factors(in[1].Ints, s.batch, len(y.Data)) {
			y.Data[i] *= f
		}
	}
}

func (s swishGrad) ref(dx Array, in []Array) {
	x, dy := in[0].Data, in[1].Data
	for i := range dx.Data {
		gate := sigmoid(x[i])
		dx.Data[i] = dy[i] * gate * (1 + x[i]*(1-gate))
	}
	if len(in) == 3 {
		for i, f := range s.d.factors(in[2].Ints, s.batch, len(dx.Data)) {
			dx.Data[i] *= f
		}
	}
}
