package op

// NewEMA makes the op that takes one more vector into an exponential moving average: the average of the iterates of a
// stochastic search lies nearer to where it leads than the last of them (Polyak and Juditsky 1992).
//
//	average, x [n], constants [1]: share -> y = average + share*(x - average)
//
// This is (1-share)*average + share*x, in the form in which a weight that doesn't move has exactly itself for its
// average. The result may take the place of average.
func NewEMA(n int) *Op {
	t := Type{Shape: []int{n}}
	return &Op{Name: "ema", In: []Type{t, t, {Shape: []int{1}}}, Out: t, FLOPs: 3 * float64(n), family: ema{n}}
}

type ema struct{ n int }
