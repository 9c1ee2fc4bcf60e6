// Package fft computes discrete Fourier transforms of complex numbers, a power of two of them, in float64. It is held
// to gonum's dsp/fourier, of whose time it takes a fifth on the frames of features.
package fft

import "math"

// Plan is what transforms of one length share: a Stockham radix-4 FFT, which needs no bit reversal, and in which every
// pass reads and writes in order (Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992, section
// 1.7). It may be used by any number of goroutines.
type Plan struct {
	n      int
	passes []pass
}

// pass is one radix-4 step over m quarters with the given stride.
type pass struct {
	quarter, stride int
	w               []complex128 // [quarter, 3]: powers 1, 2, 3 of exp(-2 pi i p/(4*quarter))
}

// New returns the Plan for n numbers, a power of two, 4 or more.
func New(n int) *Plan {
	p := &Plan{n: n}
	stride := 1
	for m := n; m >= 4; m /= 4 {
		q := pass{quarter: m / 4, stride: stride, w: make([]complex128, 3*(m/4))}
		for i := range q.quarter {
			q.w[3*i], q.w[3*i+1], q.w[3*i+2] = Unit(i, m), Unit(2*i, m), Unit(3*i, m)
		}
		p.passes = append(p.passes, q)
		stride *= 4
	}
	return p
}

// Bytes is what a Plan for n numbers takes.
func Bytes(n int) int64 { return 16 * int64(n-1) }

// Unit is exp(-2 pi i k/n).
func Unit(k, n int) complex128 {
	s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
	return complex(c, -s)
}

// Transform is X[k] = sum over j of x[j] exp(-2 pi i j k/n), in the memory of x or in that of y, which are both
// overwritten; each has n numbers.
func (p *Plan) Transform(x, y []complex128) []complex128 {
	for i := range p.passes {
		p.passes[i].run(y, x)
		x, y = y, x
	}
	if p.passes[len(p.passes)-1].quarter == 2 { // an odd power of two: one radix-2 pass is left
		s := p.n / 2
		lo, hi, outLo, outHi := x[:s], x[s:][:s], y[:s], y[s:][:s]
		for q, a := range lo {
			b := hi[q]
			outLo[q], outHi[q] = a+b, a-b
		}
		x = y
	}
	return x
}

// run does one pass from x to y. The first pass (stride 1) and the last (one group,
// twiddles of 1) have loops of their own: they are half of the work.
func (p *pass) run(y, x []complex128) {
	m, s := p.quarter, p.stride
	switch {
	case s == 1:
		p.first(y, x)
		return
	case m == 1:
		last(y, x)
		return
	}
	for i := range m {
		w1, w2, w3 := p.w[3*i], p.w[3*i+1], p.w[3*i+2]
		xa, xb, xc, xd := x[s*i:][:s], x[s*(i+m):][:s], x[s*(i+2*m):][:s], x[s*(i+3*m):][:s]
		out := y[4*s*i:][: 4*s : 4*s]
		ya, yb, yc, yd := out[:s], out[s:][:s], out[2*s:][:s], out[3*s:][:s]
		for q, a := range xa {
			b, c, d := xb[q], xc[q], xd[q]
			ac, bd := a+c, b+d
			amc, bmd := a-c, b-d
			rot := complex(-imag(bmd), real(bmd)) // i (b-d)
			ya[q] = ac + bd
			yb[q] = w1 * (amc - rot)
			yc[q] = w2 * (ac - bd)
			yd[q] = w3 * (amc + rot)
		}
	}
}

// first is a pass of stride 1.
func (p *pass) first(y, x []complex128) {
	m := p.quarter
	xa, xb, xc, xd := x[:m], x[m:][:m], x[2*m:][:m], x[3*m:][:m]
	y, w := y[:4*m], p.w[:3*m]
	for i, a := range xa {
		b, c, d := xb[i], xc[i], xd[i]
		ac, bd := a+c, b+d
		amc, bmd := a-c, b-d
		rot := complex(-imag(bmd), real(bmd))
		o, v := y[4*i:][:4:4], w[3*i:][:3:3]
		o[0] = ac + bd
		o[1] = v[0] * (amc - rot)
		o[2] = v[1] * (ac - bd)
		o[3] = v[2] * (amc + rot)
	}
}

// last is a pass of one group.
func last(y, x []complex128) {
	s := len(x) / 4
	xa, xb, xc, xd := x[:s], x[s:][:s], x[2*s:][:s], x[3*s:][:s]
	ya, yb, yc, yd := y[:s], y[s:][:s], y[2*s:][:s], y[3*s:][:s]
	for q, a := range xa {
		b, c, d := xb[q], xc[q], xd[q]
		ac, bd := a+c, b+d
		amc, bmd := a-c, b-d
		rot := complex(-imag(bmd), real(bmd))
		ya[q] = ac + bd
		yb[q] = amc - rot
		yc[q] = ac - bd
		yd[q] = amc + rot
	}
}
