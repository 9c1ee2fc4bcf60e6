package op

import (
	"math"

	"konkanitrain/internal/philox"
)

// attentionRef is an utterance's head as the specification sees it.
type attentionRef struct {
	a       *attentionShape
	in      []Array
	b, h    int
	queries int
	keys    int
}

// each calls f for every head of every utterance.
func (a *attentionShape) each(in []Array, f func(x attentionRef)) {
	n := a.floatOperands()
	for b := range a.batch {
		for h := range a.heads {
			f(attentionRef{a, in, b, h, a.query.of(in[n].Ints, b, a.l), a.key.of(in[n+1].Ints, b, a.s)})
		}
	}
}

// at is the place of row i, column c of the head in operand o: of q, k or v, of p, or of u or w (i = 0).
func (x *attentionRef) at(o, i, c int) int {
	switch o {
	case 0:
		i += x.b * x.a.l
	case 1, 2:
		i += x.b * x.a.s
	}
	return i*x.a.d + x.h*x.a.dh() + c
}

func (x *attentionRef) get(o, i, c int) float64 { return x.in[o].Data[x.at(o, i, c)] }

func (x *attentionRef) sees(i int) int {
	if x.a.causal {
		return min(i+1, x.keys)
	}
	return x.keys
}

// weights is the softmax of row i over the keys that it sees.
func (x *attentionRef) weights(i int) []float64 {
	s := make([]float64, x.sees(i))
	largest := math.Inf(-1)
	for j := range s {
		for c := range x.a.dh() {
			q := x.get(0, i, c)
			if x.a.relative {
				s[j] += (q+x.get(4, 0, c))*x.get(1, j, c) + (q+x.get(5, 0, c))*x.get(3, x.a.s-1-i+j, c)
			} else {
				s[j] += q * x.get(1, j, c)
			}
		}
		s[j] /= math.Sqrt(float64(x.a.dh()))
		largest = max(largest, s[j])
	}
	sum := 0.0
	for j := range s {
		s[j] = math.Exp(s[j] - largest)
		sum += s[j]
	}
	for j := range s {
		s[j] /= sum
	}
	return s
}

// kept is what dropout multiplies weight [i, j] by.
func (x *attentionRef) kept(i, j int) float64 {
	if !x.a.dropping {
		return 1
	}
	seeds := x.in[x.a.floatOperands()+2].Ints
	if philox.Draw16(seedOf(seeds, x.b), x.a.drop.Site, uint32(i*x.a.heads+x.h), uint32(j)) < x.a.drop.threshold() {
		return 0
	}
	return x.a.drop.scale()
}

func (a *attention) ref(y Array, in []Array) {
	clear(y.Data)
	a.each(in, func(x attentionRef) {
		for i := range x.queries {
			for j, w := range x.weights(i) {
				for c := range a.dh() {
					y.Data[x.at(0, i, c)] += w * x.kept(i, j) * x.get(2, j, c)
				}
			}
		}
	})
}

func (a *attentionGrad) ref(packed Array, in []Array) {
	dy, in := in[0], in[1:]
	clear(packed.Data)
	var grad [][]float64 // of each operand
	rest := packed.Data
	for _, o := range in[:a.floatOperands()] {
		grad = append(grad, rest[:len(o.Data)])
		rest = rest[len(o.Data):]
	}
	a.each(in, func(x attentionRef) {
		add := func(o, i, c int, v float64) { grad[o][x.at(o, i, c)] += v }
		for i := range x.queries {
			weight := x.weights(i)
			dweight := make([]float64, len(weight))
			mean := 0.0
			for j, w := range weight {
				for c := range a.dh() {
					dout := dy.Data[x.at(0, i, c)]
					add(2, j, c, w*x.kept(i, j)*dout)
					dweight[j] += x.kept(i, j) * dout * x.get(2, j, c)
				}
				mean += w * dweight[j]
			}
			for j, w := range weight {
				dscore := w * (dweight[j] - mean) / math.Sqrt(float64(a.dh()))
				for c := range a.dh() {
					q, k := x.get(0, i, c), x.get(1, j, c)
					if !a.relative {
						add(0, i, c, dscore*k)
						add(1, j, c, dscore*q)
						continue
					}
					r := a.s - 1 - i + j // the row of p
					p := x.get(3, r, c)
					add(0, i, c, dscore*(k+p))
					add(1, j, c, dscore*(q+x.get(4, 0, c)))
					add(3, r, c, dscore*(q+x.get(5, 0, c)))
					add(4, 0, c, dscore*k)
					add(5, 0, c, dscore*p)
				}
			}
		}
	})
}
