package feature

import "math"

// logTable computes natural logarithms: the leading bits of the mantissa choose a
// center c with a known logarithm, and a short series does the rest,
// ln x = e ln 2 + ln c + ln(1+r) with r = m/c - 1, |r| <= 2^-8. The error is about
// that of math.Log, which takes about twice as long.
type logTable [128]struct{ inverse, log float64 }

func newLogTable() *logTable {
	t := new(logTable)
	for i := range t {
		t[i].inverse = 1 / (1 + (float64(i)+0.5)/128)
		t[i].log = -math.Log(t[i].inverse)
	}
	return t
}

// at is ln x of a normal, positive x; anything else is left to math.Log.
func (t *logTable) at(x float64) float64 {
	if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
		return math.Log(x)
	}
	b := math.Float64bits(x)
	c := &t[b>>45&127]
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	r := m*c.inverse - 1
	s := r * r
	series := r - s*((1./2-r*(1./3))+s*((1./4-r*(1./5))+s*(1./6)))
	return float64(int(b>>52)-1023)*math.Ln2 + (c.log + series)
}
