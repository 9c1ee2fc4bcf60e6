package decode

import (
	"math"
)

// Confidence measures how sure the network was of what it said: by the entropy of a frame's distribution, which is low
// where one token has it all (Laptev and Ginsburg, "Fast entropy-based methods of word-level confidence estimation for
// end-to-end automatic speech recognition", SLT 2022). It is 1 where one token is certain, and 0 where all are equally
// likely. It doesn't depend on which token a hypothesis has there.
//
// It is no probability of being right; a [Calibration] makes one of it.
type Confidence struct {
	// Alpha is that of Tsallis's entropy, (1 - sum p^Alpha)/(Alpha-1); 1 is Gibbs's, -sum p log p. Less than 1 heeds
	// unlikely tokens more.
	Alpha       float64
	Exponential bool      // by the entropy's exponential, which tells high confidences apart; else linear
	Aggregate   Aggregate // of frames to a token, and of tokens to a character or word
}

// Aggregate makes one confidence of several.
type Aggregate string

// The aggregates.
const (
	Least   Aggregate = "min"
	Mean    Aggregate = "mean"
	Product Aggregate = "product"
)

// Frame is the confidence of a frame's log-probabilities, [V].
func (c Confidence) Frame(row []float32) float64 {
	if len(row) < 2 {
		return 1
	}
	n := float64(len(row))
	entropy, most := 0.0, math.Log(n)
	for _, x := range row {
		switch p := float64(x); {
		case math.IsInf(p, -1): // 0 to any power, and 0 times its logarithm
		case c.Alpha == 1:
			entropy -= p * math.Exp(p)
		default:
			entropy += math.Exp(c.Alpha * p)
		}
	}
	if c.Alpha != 1 {
		entropy, most = (1-entropy)/(c.Alpha-1), (1-math.Pow(n, 1-c.Alpha))/(c.Alpha-1)
	}
	confidence := 1 - entropy/most
	if c.Exponential {
		confidence = (math.Exp(-entropy) - math.Exp(-most)) / (1 - math.Exp(-most))
	}
	return min(max(confidence, 0), 1) // rounding
}

// Tokens appends the confidence of each token: that of its frames together.
func (c Confidence) Tokens(dst []float64, f Frames, spans []Span) []float64 {
	for _, s := range spans {
		sum := c.sum()
		for t := max(s.Start, 0); t < min(s.End, int32(f.T())); t++ {
			sum.add(c.Frame(f.Row(int(t))))
		}
		dst = append(dst, sum.value())
	}
	return dst
}

// Units appends the confidence of each word or character: that of its tokens together.
func (c Confidence) Units(dst, tokens []float64, units []Unit) []float64 {
	for _, u := range units {
		sum := c.sum()
		for _, x := range tokens[u.From:u.To] {
			sum.add(x)
		}
		dst = append(dst, sum.value())
	}
	return dst
}

// aggregation is an Aggregate at work.
type aggregation struct {
	by Aggregate
	x  float64
	n  int
}

func (c Confidence) sum() aggregation {
	if c.Aggregate == Mean {
		return aggregation{by: c.Aggregate}
	}
	return aggregation{by: c.Aggregate, x: 1}
}

func (a *aggregation) add(x float64) {
	a.n++
	switch a.by {
	case Mean:
		a.x += x
	case Product:
		a.x *= x
	default:
		a.x = min(a.x, x)
	}
}

// value is 0 where nothing was added.
func (a *aggregation) value() float64 {
	switch {
	case a.n == 0:
		return 0
	case a.by == Mean:
		return a.x / float64(a.n)
	}
	return a.x
}
