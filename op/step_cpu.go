package op

import (
	"math"

	"konkanitrain/internal/simd"
)

func (s embedAt) cpu() Kernel { return Kernel{Run: s.runCPU} }

func (s embedAt) runCPU(_ *Env, y Tensor, in []Tensor) {
	scale := float32(s.scale())
	tokens, at, w, table := in[0].Ints, in[1].Ints, in[2].Data, in[3].Data
	for r := range s.prefixes {
		out := y.Data[r*s.d:][:s.d]
		if at[r] < 0 {
			clear(out)
			continue
		}
		simd.AddScaled(out, table[int(at[r])*s.d:][:s.d], scale, w[int(tokens[r])*s.d:][:s.d])
	}
}

func (s stepAttention) cpu() Kernel { return Kernel{Run: s.runCPU, Scratch: 4 * int64(s.kept+1)} }

func (s stepAttention) runCPU(e *Env, y Tensor, in []Tensor) {
	dh, scale := s.d/s.heads, float32(s.scale())
	for r := range s.prefixes {
		n, row := int(in[5].Ints[r]), r*s.d
		out := y.Data[row:][:s.d]
		clear(out)
		if n < 0 {
			continue
		}
		q, k, v := in[0].Data[row:][:s.d], in[1].Data[row:][:s.d], in[2].Data[row:][:s.d]
		keys, values := in[3].Data[row*s.kept:][:n*s.d], in[4].Data[row*s.kept:][:n*s.d]
		weights := e.Scratch[:n+1]
		for from := 0; from < s.d; from += dh {
			most := float32(math.Inf(-1))
			for c := range weights {
				key := k
				if c < n {
					key = keys[c*s.d:]
				}
				weights[c] = scale * dot(q[from:][:dh], key[from:][:dh])
				most = max(most, weights[c])
			}
			for c := range weights {
				weights[c] -= most
			}
			simd.Exp(weights, weights)
			sum := float32(0)
			for _, w := range weights {
				sum += w
			}
			for c, w := range weights {
				value := v
				if c < n {
					value = values[c*s.d:]
				}
				simd.Axpy(out[from:][:dh], w/sum, value[from:][:dh])
			}
		}
	}
}

// dot is the sum of the products, in four sums side by side.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
