package update

import "fmt"

// LossScale is the dynamic loss scale of half-precision training (Micikevicius et al. 2018, section 3.2): the
// loss is multiplied by Scale, so that small gradients don't vanish in float16, and the gradient divided by it
// again. Its state is saved with a checkpoint.
type LossScale struct {
	Scale float64 `json:"scale"`
	Good  int     `json:"good"` // good updates in a row since the last change
	Low   int     `json:"low"`  // overflows in a row with the scale below 1
	// GrowEvery is the number of good updates after which the scale doubles.
	GrowEvery int `json:"grow_every"`
}

// NewLossScale starts at 65536 and grows every 2000 good updates.
func NewLossScale() LossScale { return LossScale{Scale: 65536, GrowEvery: 2000} }

// Succeeded notes an update with a finite gradient.
func (s *LossScale) Succeeded() {
	s.Low = 0
	if s.Good++; s.Good >= s.GrowEvery {
		s.Scale *= 2
		s.Good = 0
	}
}

// Overflowed notes a gradient that is not finite. It is an error when the scale has ended below 1 three times
// running: then it is not the scale that is wrong.
func (s *LossScale) Overflowed() error {
	s.Scale /= 2
	s.Good = 0
	if s.Scale >= 1 { // and Low is 0: Succeeded alone raises the scale
		return nil
	}
	if s.Low++; s.Low >= 3 {
		return fmt.Errorf("the gradient overflows even at a loss scale of %g, so the scale is not to blame: either activations are beyond 65504, "+
			"the most that half precision holds, and training without fp16 helps, or training has diverged: lower learning_rate, or look for broken utterances", s.Scale)
	}
	return nil
}
