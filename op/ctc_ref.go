package op

import (
	"math"

	"konkanitrain/internal/frames"
)

// logAdd is log(exp(a) + exp(b)), also for zeros (-Inf).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// class is the class that state s of a target emits.
func class(target []int32, s int) int {
	if s%2 == 0 {
		return Blank
	}
	return int(target[s/2])
}

// tables are the logarithms of p [n, V], alpha [n, N], beta [n, N] and of P; ok is false without an alignment.
func (c *ctcShape) tables(logits []float64, n int, target []int32) (logP, alpha, beta [][]float64, total float64, ok bool) {
	if n == 0 || frames.CTCNeed(target) > n {
		return nil, nil, nil, 0, false
	}
	states := 2*len(target) + 1
	zeros := func() [][]float64 {
		t := make([][]float64, n)
		for i := range t {
			t[i] = make([]float64, states)
			for s := range t[i] {
				t[i][s] = math.Inf(-1)
			}
		}
		return t
	}
	alpha, beta = zeros(), zeros()
	for t := range n {
		logP = append(logP, logSoftmax(logits[t*c.v:][:c.v]))
		for s := range states {
			a := math.Inf(-1)
			if t == 0 {
				if s < 2 {
					a = 0
				}
			} else {
				a = alpha[t-1][s]
				if s > 0 {
					a = logAdd(a, alpha[t-1][s-1])
				}
				if ctcSkips(target, s) {
					a = logAdd(a, alpha[t-1][s-2])
				}
			}
			alpha[t][s] = a + logP[t][class(target, s)]
		}
	}
	for t := n - 1; t >= 0; t-- {
		for s := range states {
			if t == n-1 {
				if s >= states-2 {
					beta[t][s] = 0
				}
				continue
			}
			for next := s; next < min(s+3, states); next++ {
				if next < s+2 || ctcSkips(target, next) {
					beta[t][s] = logAdd(beta[t][s], beta[t+1][next]+logP[t+1][class(target, next)])
				}
			}
		}
	}
	total = alpha[n-1][states-1]
	if states > 1 {
		total = logAdd(total, alpha[n-1][states-2])
	}
	return logP, alpha, beta, total, true
}

func (c ctc) ref(loss Array, in []Array) {
	clear(loss.Data)
	for b := range c.batch {
		n := valid(in[1].Ints, b, c.factor, c.s)
		logP, _, _, total, ok := c.tables(in[0].Data[b*c.s*c.v:], n, c.target(in[2].Ints, in[3].Ints, b))
		if !ok {
			continue
		}
		loss.Data[b] = -(1 - c.smoothing) * total
		for _, row := range logP {
			for _, l := range row {
				loss.Data[b] -= c.uniform() * l
			}
		}
	}
}

func (c ctcGrad) ref(dx Array, in []Array) {
	clear(dx.Data)
	for b := range c.batch {
		n, target := valid(in[2].Ints, b, c.factor, c.s), c.target(in[3].Ints, in[4].Ints, b)
		logP, alpha, beta, total, ok := c.tables(in[1].Data[b*c.s*c.v:], n, target)
		if !ok {
			continue
		}
		for t := range n {
			row := dx.Data[(b*c.s+t)*c.v:][:c.v]
			for k := range row {
				row[k] = in[0].Data[b] * (math.Exp(logP[t][k]) - c.uniform())
			}
			for s := range alpha[t] {
				row[class(target, s)] -= in[0].Data[b] * (1 - c.smoothing) * math.Exp(alpha[t][s]+beta[t][s]-total)
			}
		}
	}
}
