package op

import "math"

// logSoftmax is x - log sum exp x.
func logSoftmax(x []float64) []float64 {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range x {
		largest = max(largest, v)
	}
	for _, v := range x {
		sum += math.Exp(v - largest)
	}
	y := make([]float64, len(x))
	for c, v := range x {
		y[c] = v - largest - math.Log(sum)
	}
	return y
}

// each calls f for each true step with the place of its row, its log probabilities and its smoothed target.
func (s *crossEntropyShape) each(logits []float64, targets, lengths []int32, f func(b, at int, logP, q []float64)) {
	for b := range s.batch {
		n := s.steps(lengths, b)
		for l := range n {
			at := (b*s.l + l) * s.v
			q := make([]float64, s.v)
			for c := range q {
				q[c] = s.e / float64(s.v)
			}
			q[s.token(targets, b, l, n)] += 1 - s.e
			f(b, at, logSoftmax(logits[at:][:s.v]), q)
		}
	}
}

func (s crossEntropy) ref(loss Array, in []Array) {
	clear(loss.Data)
	s.each(in[0].Data, in[1].Ints, in[2].Ints, func(b, _ int, logP, q []float64) {
		for c := range q {
			loss.Data[b] -= q[c] * logP[c]
		}
	})
}

func (s crossEntropyGrad) ref(dx Array, in []Array) {
	clear(dx.Data)
	s.each(in[1].Data, in[2].Ints, in[3].Ints, func(b, at int, logP, q []float64) {
		for c := range q {
			dx.Data[at+c] = in[0].Data[b] * (math.Exp(logP[c]) - q[c])
		}
	})
}
