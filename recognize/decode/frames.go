package decode

import "math"

// Frames are the log-probabilities of one utterance's tokens in each frame.
type Frames struct {
	LogProbs []float32 // [T, V], by rows, in nats; no NaN. The exponentials of a row add up to 1
	V        int       // tokens, the blank included
}

// T is the number of frames.
func (f Frames) T() int {
	if f.V <= 0 {
		return 0
	}
	return len(f.LogProbs) / f.V
}

// Row is the frame t, [V].
func (f Frames) Row(t int) []float32 { return f.LogProbs[t*f.V:][:f.V:f.V] }

// Set fills f with the logarithm of the softmax over each row of logits, [T, V], which it leaves alone. It takes f's
// memory where that is enough.
//
// Logits of a broken network give frames all the same: a NaN counts as -Inf, several +Inf share the frame, and a row
// without any finite or positive number says nothing, so that all its tokens are equally likely.
func (f *Frames) Set(logits []float32, v int) {
	if v <= 0 {
		*f = Frames{LogProbs: f.LogProbs[:0]}
		return
	}
	n := len(logits) / v * v
	if cap(f.LogProbs) < n {
		f.LogProbs = make([]float32, n)
	}
	f.LogProbs, f.V = f.LogProbs[:n], v
	for at := 0; at < n; at += v {
		logSoftmax(f.LogProbs[at:at+v], logits[at:at+v])
	}
}

func logSoftmax(dst, row []float32) {
	most := math.Inf(-1)
	for _, x := range row {
		if float64(x) > most { // never of a NaN
			most = float64(x)
		}
	}
	if math.IsInf(most, 0) { // shared by those that have it, or by all
		share := 0
		for _, x := range row {
			if most < 0 || float64(x) == most {
				share++
			}
		}
		for i, x := range row {
			dst[i] = float32(math.Inf(-1))
			if most < 0 || float64(x) == most {
				dst[i] = float32(-math.Log(float64(share)))
			}
		}
		return
	}
	sum := 0.0
	for _, x := range row {
		if x == x {
			sum += math.Exp(float64(x) - most)
		}
	}
	norm := math.Log(sum) // most is far above it where logits are huge
	for i, x := range row {
		if x != x {
			x = float32(math.Inf(-1))
		}
		dst[i] = float32(float64(x) - most - norm)
	}
}

// logAdd is log(exp(a) + exp(b)); -Inf is the logarithm of 0.
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if d := b - a; d > -40 { // beyond that b is less than half a unit in the last place of a sum near 1
		return a + math.Log1p(math.Exp(d))
	}
	return a // also where both are -Inf, whose difference is no number
}
