package op

import "math"

func (s layerNorm) ref(y Array, in []Array) {
	n, d := s.n, s.d
	gamma, beta := in[1].Data, in[2].Data
	for r := range n {
		h, _ := normalize(in[0].Data[r*d:][:d])
		for j := range d {
			y.Data[r*d+j] = h[j]*gamma[j] + beta[j]
		}
	}
}

func (s layerNormGrad) ref(out Array, in []Array) {
	n, d := s.n, s.d
	x, gamma, dy := in[0].Data, in[1].Data, in[2].Data
	dx, dgamma, dbeta := out.Data[:n*d], out.Data[n*d:][:d], out.Data[n*d+d:]
	clear(dgamma)
	clear(dbeta)
	for r := range n {
		h, inv := normalize(x[r*d:][:d])
		meanG, meanGH := 0.0, 0.0
		for j := range d {
			g := dy[r*d+j] * gamma[j]
			meanG += g / float64(d)
			meanGH += g * h[j] / float64(d)
			dgamma[j] += dy[r*d+j] * h[j]
			dbeta[j] += dy[r*d+j]
		}
		for j := range d {
			dx[r*d+j] = (dy[r*d+j]*gamma[j] - meanG - h[j]*meanGH) * inv
		}
	}
}

// normalize is (x-mean)/sqrt(variance+eps), and the factor 1/sqrt(variance+eps).
func normalize(x []float64) (h []float64, inv float64) {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	inv = 1 / math.Sqrt(variance+layerNormEps)
	for _, v := range x {
		h = append(h, (v-mean)*inv)
	}
	return h, inv
}
