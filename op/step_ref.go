package op

import "math"

func (s embedAt) ref(y Array, in []Array) {
	for r := range s.prefixes {
		for c := range s.d {
			y.Data[r*s.d+c] = 0
			if at := int(in[1].Ints[r]); at >= 0 {
				y.Data[r*s.d+c] = s.scale()*in[2].Data[int(in[0].Ints[r])*s.d+c] + in[3].Data[at*s.d+c]
			}
		}
	}
}

func (s stepAttention) ref(y Array, in []Array) {
	dh := s.d / s.heads
	clear(y.Data)
	for r := range s.prefixes {
		n := int(in[5].Ints[r])
		for from := 0; from < s.d && n >= 0; from += dh {
			// element is column j of what is kept of step c, or of its own.
			element := func(kept, own Array, c, j int) float64 {
				if c == n {
					return own.Data[r*s.d+j]
				}
				return kept.Data[(r*s.kept+c)*s.d+j]
			}
			weights, sum := make([]float64, n+1), 0.0
			for c := range weights {
				score := 0.0
				for j := from; j < from+dh; j++ {
					score += in[0].Data[r*s.d+j] * element(in[3], in[1], c, j)
				}
				weights[c] = math.Exp(score * s.scale())
				sum += weights[c]
			}
			for c, w := range weights {
				for j := from; j < from+dh; j++ {
					y.Data[r*s.d+j] += w / sum * element(in[4], in[2], c, j)
				}
			}
		}
	}
}
