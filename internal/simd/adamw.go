package simd

// AdamStep holds the numbers of one AdamW update that are the same for all elements.
type AdamStep struct {
	LR, Beta1, Beta2, Eps float32
	Correct1, Correct2    float32 // 1/(1-Beta1^t) and 1/(1-Beta2^t)
	Decay                 float32 // decoupled weight decay
	GradScale             float32 // what g is multiplied by first: clipping, loss scale
}

// AdamW updates parameters p and their moments m and v in place from the gradient g (Loshchilov & Hutter 2019):
//
//	g' = GradScale*g
//	p *= 1 - LR*Decay
//	m  = Beta1*m + (1-Beta1)*g'
//	v  = Beta2*v + (1-Beta2)*g'*g'
//	p -= LR*(m*Correct1) / (sqrt(v*Correct2) + Eps)
func AdamW(p, m, v, g []float32, a AdamStep) {
	n := len(p)
	active.adamW(p, m[:n], v[:n], g[:n], a)
}
