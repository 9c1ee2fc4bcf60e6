package op

import "math"

func (finite) ref(y Array, in []Array) {
	y.Ints[0] = -1
	for i, v := range in[0].Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			y.Ints[0] = int32(i)
			return
		}
	}
}
