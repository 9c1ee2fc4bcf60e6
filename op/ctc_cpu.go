package op

import (
	"konkanitrain/internal/frames"
	"konkanitrain/internal/simd"
)

// cpu: the scratch is a row of probabilities and of their logarithms, a row of alpha and the emissions.
func (c ctc) cpu() Kernel {
	return Kernel{Run: c.runCPU, Scratch: floatBytes(2*roundUp(c.v) + wideSpace(c.states()) + wideSpace(c.u+1))}
}

// cpu: the scratch is a row of probabilities, alpha of all frames, a row of beta, the emissions and the occupancy of
// each class.
func (c ctcGrad) cpu() Kernel {
	scratch := roundUp(c.v) + wideSpace(c.s*c.states()) + wideSpace(c.states()) + wideSpace(c.u+1) + float64Space(c.v)
	return Kernel{Run: c.runCPU, Scratch: floatBytes(scratch), InPlace: []int{1}}
}

// band is the states that any alignment may be in at frame t of n: reached from the start, and near enough to the end.
func band(t, n, states int) (from, to int) { return max(0, states-2*(n-t)), min(states, 2*(t+1)) }

// emissions sets p to the probabilities, e[0] to that of the blank and e[1+i] to that of token i. float32 can't hold
// the smallest of them: these are taken from their logarithms.
func emissions(e wides, p, logP []float32, target []int32) {
	simd.Exp(p, logP)
	e.m[0], e.x[0] = wideProbability(p[Blank], logP[Blank])
	for i, token := range target {
		e.m[1+i], e.x[1+i] = wideProbability(p[token], logP[token])
	}
}

func wideProbability(p, logP float32) (m float64, x int32) {
	if p > 1e-30 {
		return float64(p), 0
	}
	return wideExp(float64(logP))
}

// emission is the index in the emissions of state s.
func emission(s int) int {
	if s%2 == 0 {
		return 0
	}
	return 1 + s/2
}

// ctcStart sets alpha of frame 0.
func ctcStart(alpha, e wides, n int) {
	states := len(alpha.m)
	from, to := band(0, n, states)
	alpha.zero(0, states)
	for s := from; s < to; s++ {
		alpha.m[s], alpha.x[s] = wideMul(1, 0, e.m[emission(s)], e.x[emission(s)])
	}
}

// ctcForward makes alpha of frame t from that of the frame before. next may be prev: a state looks down only.
func ctcForward(next, prev, e wides, target []int32, t, n int) {
	states := len(next.m)
	from, to := band(t, n, states)
	next.zero(to, min(to+2, states)) // the next frame looks there
	for s := to - 1; s >= from; s-- {
		m, x := prev.m[s], prev.x[s]
		if s > 0 {
			m, x = wideAdd(m, x, prev.m[s-1], prev.x[s-1])
		}
		k := 0
		if s&1 == 1 {
			k = 1 + s>>1
			if s > 1 && target[k-1] != target[k-2] {
				m, x = wideAdd(m, x, prev.m[s-2], prev.x[s-2])
			}
		}
		next.m[s], next.x[s] = wideMul(m, x, e.m[k], e.x[k])
	}
}

// ctcBackward makes beta of frame t-1 from that of frame t, in place.
func ctcBackward(beta, e wides, target []int32, t, n int) {
	states := len(beta.m)
	from, to := band(t, n, states)
	for s := from; s < to; s++ {
		k := emission(s)
		beta.m[s], beta.x[s] = wideMul(beta.m[s], beta.x[s], e.m[k], e.x[k])
	}
	from, to = band(t-1, n, states)
	for s := from; s < to; s++ {
		m, x := beta.m[s], beta.x[s]
		if s+1 < states {
			m, x = wideAdd(m, x, beta.m[s+1], beta.x[s+1])
		}
		if k := s>>1 + 1; s&1 == 1 && k < len(target) && target[k] != target[k-1] {
			m, x = wideAdd(m, x, beta.m[s+2], beta.x[s+2])
		}
		beta.m[s], beta.x[s] = m, x
	}
}

// ctcTotal is P, from alpha of the last frame.
func ctcTotal(alpha wides) (m float64, x int32) {
	end := len(alpha.m) - 1
	m, x = alpha.m[end], alpha.x[end]
	if end > 0 {
		m, x = wideAdd(m, x, alpha.m[end-1], alpha.x[end-1])
	}
	return m, x
}

func (c ctc) runCPU(e *Env, loss Tensor, in []Tensor) {
	space := e.Scratch
	logP, p := take(&space, c.v), take(&space, c.v)
	rows, emits := takeWides(&space, c.states()), takeWides(&space, c.u+1)
	for b := range c.batch {
		loss.Data[b] = 0
		x, n, target := block(in[0], b, c.batch), valid(in[1].Ints, b, c.factor, c.s), c.target(in[2].Ints, in[3].Ints, b)
		if n == 0 || frames.CTCNeed(target) > n {
			continue
		}
		alpha := rows.part(0, 2*len(target)+1)
		spread := 0.0 // the sum of all log probabilities, with smoothing
		for t := range n {
			logProbabilities(logP, x[t*c.v:][:c.v])
			emissions(emits, p, logP, target)
			if c.smoothing != 0 {
				for _, l := range logP {
					spread += float64(l)
				}
			}
			if t == 0 {
				ctcStart(alpha, emits, n)
			} else {
				ctcForward(alpha, alpha, emits, target, t, n)
			}
		}
		loss.Data[b] = float32(-(1-c.smoothing)*wideLog(ctcTotal(alpha)) - c.uniform()*spread)
	}
}

func (c ctcGrad) runCPU(e *Env, dx Tensor, in []Tensor) {
	space := e.Scratch
	p := take(&space, c.v)
	tables := takeWides(&space, c.s*c.states())
	rows, emits, occupancy := takeWides(&space, c.states()), takeWides(&space, c.u+1), takeFloat64s(&space, c.v)
	clear(occupancy)
	for b := range c.batch {
		x, out := block(in[1], b, c.batch), block(dx, b, c.batch)
		n, target := valid(in[2].Ints, b, c.factor, c.s), c.target(in[3].Ints, in[4].Ints, b)
		if n == 0 || frames.CTCNeed(target) > n {
			clear(out)
			continue
		}
		states := 2*len(target) + 1
		for t := range n { // out holds log probabilities until the way back
			row, alpha := out[t*c.v:][:c.v], tables.part(t*states, states)
			logProbabilities(row, x[t*c.v:][:c.v])
			emissions(emits, p, row, target)
			if t == 0 {
				ctcStart(alpha, emits, n)
			} else {
				ctcForward(alpha, tables.part((t-1)*states, states), emits, target, t, n)
			}
		}
		m, exponent := ctcTotal(tables.part((n-1)*states, states))
		beta := rows.part(0, states)
		beta.zero(0, states)
		for s := max(0, states-2); s < states; s++ {
			beta.set(s, 1)
		}
		for t := n - 1; t >= 0; t-- {
			row := out[t*c.v:][:c.v]
			emissions(emits, p, row, target)
			occupy(p, tables.part(t*states, states), beta, (1-c.smoothing)/m, exponent, target, occupancy, t, n)
			if uniform := float32(c.uniform()); uniform != 0 {
				for k := range p {
					p[k] -= uniform
				}
			}
			simd.Scale(row, in[0].Data[b], p)
			if t > 0 {
				ctcBackward(beta, emits, target, t, n)
			}
		}
		clear(out[n*c.v:])
	}
}

// occupy subtracts from p, the probabilities [V] of frame t, those of the states given the target, all times the same
// factor. inverse and exponent are that factor over P and P's exponent; sums [V] is 0 before and after.
func occupy(p []float32, alpha, beta wides, inverse float64, exponent int32, target []int32, sums []float64, t, n int) {
	from, to := band(t, n, len(alpha.m))
	blank := 0.0
	for s := from; s < to; s++ {
		v := wideValue(alpha.m[s]*beta.m[s]*inverse, alpha.x[s]+beta.x[s]-exponent)
		if s&1 == 0 {
			blank += v
		} else {
			sums[target[s>>1]] += v
		}
	}
	sums[Blank] += blank
	p[Blank] = float32(float64(p[Blank]) - sums[Blank])
	sums[Blank] = 0
	for i := from / 2; i < to/2; i++ {
		token := target[i]
		p[token] = float32(float64(p[token]) - sums[token])
		sums[token] = 0
	}
}
