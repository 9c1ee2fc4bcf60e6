package op

import "math"

// NewAdamW makes the optimizer's op: Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2) for one
// piece of n weights.
//
//	p, m, v, g [n], constants [8] -> the new p; m and v are updated
//	g' = GradScale*g
//	m = Beta1*m + (1-Beta1)*g'    v = Beta2*v + (1-Beta2)*g'*g'
//	p = p*(1 - LR*Decay) - LR*(m*Correct1) / (sqrt(v*Correct2) + Eps)
//
// p are the weights, m and v the first and second moments, g the gradient; the result may take the place of p. The
// constants are those of an [AdamStep], as its Put writes them.
func NewAdamW(n int) *Op {
	piece := Type{Shape: []int{n}}
	return &Op{
		Name: "adamw", In: []Type{piece, piece, piece, piece, {Shape: []int{adamConstants}}}, Out: piece, Updates: []int{1, 2},
		FLOPs: 20 * float64(n), family: adamW{n},
	}
}

type adamW struct{ n int }

// adamConstants is the number of AdamStep's fields.
const adamConstants = 8

// AdamStep is what one update has in common for all its weights: the constants of [NewAdamW].
type AdamStep struct {
	LR, Decay, Beta1, Beta2, Eps float32
	GradScale                    float32 // what the gradient is multiplied by first: clipping, and 1 over the loss scale
	Correct1, Correct2           float32 // 1/(1-Beta1^t) and 1/(1-Beta2^t): the moments start at 0
}

// Put writes the step into the op's operand constants [8].
func (s AdamStep) Put(constants []float32) {
	copy(constants, []float32{s.LR, s.Decay, s.Beta1, s.Beta2, s.Eps, s.GradScale, s.Correct1, s.Correct2})
}

// adamStep is the step that Put wrote.
func adamStep(c []float32) AdamStep {
	return AdamStep{LR: c[0], Decay: c[1], Beta1: c[2], Beta2: c[3], Eps: c[4], GradScale: c[5], Correct1: c[6], Correct2: c[7]}
}

// AdamSettings are an optimizer's settings for one update.
type AdamSettings struct {
	LR           float64 // the learning rate
	Decay        float64 // of the weights, decoupled from the gradient; 0 for weights that don't decay
	Beta1, Beta2 float64 // how much of the moments stays
	Eps          float64 // added to the root of the second moment
	GradScale    float64 // what the gradient is multiplied by first: clipping, and 1 over the loss scale
}

// Step is the step of update t = 1, 2, ...: each number rounded to float32 once.
func (a AdamSettings) Step(t int) AdamStep {
	return AdamStep{
		LR: float32(a.LR), Decay: float32(a.Decay), Beta1: float32(a.Beta1), Beta2: float32(a.Beta2), Eps: float32(a.Eps),
		GradScale: float32(a.GradScale),
		Correct1:  float32(1 / (1 - math.Pow(a.Beta1, float64(t)))),
		Correct2:  float32(1 / (1 - math.Pow(a.Beta2, float64(t)))),
	}
}
