package audio

import "fmt"

// maxDenominator bounds the number of rows of a kernel, and maxRows*Q/P does for
// ratios above 31, whose rows are long: no kernel takes more than 22 MB. A ratio that
// needs more rows is replaced by the nearest that doesn't: for ratios that occur,
// wrong by less than 1 part in 10^6.
const (
	maxDenominator = 1000
	maxRows        = 31000
)

// Ratio is the number of input samples per output sample, P/Q in lowest terms: 11/10
// plays 1.1 times as fast (shorter and higher), 441/160 turns 44.1 kHz into 16 kHz.
// The zero value is 1/1.
type Ratio struct{ P, Q int }

// NewRatio is p/q in lowest terms, or the nearest fraction with a denominator of at
// most 1000 (31000*q/p where that is less). Both must be positive, and their quotient within 1/1000 and 1000.
func NewRatio(p, q int) (Ratio, error) {
	if p <= 0 || q <= 0 || p/q > 1000 || q/p > 1000 {
		return Ratio{}, fmt.Errorf("ratio %d/%d: both numbers must be positive and their quotient within 1/1000 and 1000", p, q)
	}
	p, q = nearest(p, q, min(maxDenominator, max(1, maxRows*q/p)))
	return Ratio{p, q}, nil
}

// Speed is the ratio that plays f times as fast: 0.9, 1.1. f must lie within 0.5 and 2.
func Speed(f float64) (Ratio, error) {
	if !(f >= 0.5 && f <= 2) {
		return Ratio{}, fmt.Errorf("speed %v: 0.5 to 2 are possible", f)
	}
	const one = 1 << 53 // f is a whole number of 1/one, as it is at least 0.5
	p, q := nearest(int(f*one), one, maxDenominator)
	return Ratio{p, q}, nil
}

// Convert is the ratio that turns sound at rate from into rate to and plays it at the
// given speed.
func Convert(from, to int, speed Ratio) (Ratio, error) {
	if from < MinRate || from > MaxRate || to < MinRate || to > MaxRate {
		return Ratio{}, fmt.Errorf("resampling from %d Hz to %d Hz: rates must lie within %d and %d Hz", from, to, MinRate, MaxRate)
	}
	speed = speed.norm()
	return NewRatio(from*speed.P, to*speed.Q)
}

// Len is the number of output samples of n input samples: those at times before n,
// ceil(n*Q/P).
func (r Ratio) Len(n int) int {
	r = r.norm()
	if n <= 0 {
		return 0
	}
	return int((int64(n)*int64(r.Q) + int64(r.P) - 1) / int64(r.P))
}

// One says whether the ratio changes nothing.
func (r Ratio) One() bool { r = r.norm(); return r.P == r.Q }

// Float is the ratio as a number.
func (r Ratio) Float() float64 { r = r.norm(); return float64(r.P) / float64(r.Q) }

// String writes P/Q.
func (r Ratio) String() string { r = r.norm(); return fmt.Sprintf("%d/%d", r.P, r.Q) }

func (r Ratio) norm() Ratio {
	if r == (Ratio{}) {
		return Ratio{1, 1}
	}
	return r
}

// nearest is the fraction nearest to p/q with a denominator of at most limit, from
// the convergents of its continued fraction (the last one, or the best one between
// it and the one that is too large; the former on a tie).
func nearest(p, q, limit int) (int, int) {
	g := gcd(p, q)
	p, q = p/g, q/g
	p0, q0, p1, q1 := 0, 1, 1, 0
	n, d := p, q
	for d != 0 {
		a := n / d
		if q0+a*q1 > limit {
			k := (limit - q0) / q1
			if 2*d*(q0+k*q1) <= q {
				return p1, q1
			}
			return p0 + k*p1, q0 + k*q1
		}
		p0, q0, p1, q1 = p1, q1, p0+a*p1, q0+a*q1
		n, d = d, n-a*d
	}
	return p1, q1
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
