package op

import "konkanitrain/device/cuda"

// What a card does with all weights at once. The host asks for it without waiting: whether the update is made is
// decided on the card, and the host reads the status later.

// CardStep is what an update on a card has in common for all its weights: the operand constants of [CardUpdate].
type CardStep struct {
	AdamStep          // its GradScale is not used: the card computes it
	Clip      float64 // the largest norm of the gradient
	LossScale float64 // what the gradients were multiplied by
	Share     float32 // of the new weights in their averages: see [NewEMA]; not used without averages
}

// CardConstants is the number of float64s of the operand constants.
const CardConstants = 10

// Put writes the step into the operand constants [CardConstants].
func (s CardStep) Put(constants []float64) {
	a := s.AdamStep
	for i, c := range []float32{a.LR, a.Decay, a.Beta1, a.Beta2, a.Eps, a.Correct1, a.Correct2} {
		constants[i] = float64(c)
	}
	constants[7], constants[8], constants[9] = s.Clip, s.LossScale, float64(s.Share)
}

// The status of an update [CardStatus] float64: what CardLosses and CardUpdate leave for the host. Whoever starts a
// window clears it.
const (
	StatusSquares = iota // the sum of the squares of the gradients as they are, with the loss scale
	StatusOdd            // the number of losses that are not finite
	StatusApplied        // 1 where the update was made, 0 where it was not
	_
	CardStatus
)

// DecayElements is the number of elements that share one byte of the decay flags.
const DecayElements = 16

// CardUpdate is one update of weights on a card: the norm of the gradient, its clipping, AdamW, and a step of the
// averages of the weights. These lie in groups of so many elements, one behind the other, n in all; each group has
// constants of its own. Its operands:
//
//	In(0) weights [n], In(1) and In(2) first and second moments [n], In(3) gradients [n] with the loss scale: float32
//	In(4) the float16 copy of the weights [n], which is written; there is none without halves
//	In(5) bytes [n/DecayElements, rounded up]: not 0 where weights decay. A tensor begins at a multiple of
//	      DecayElements; elements between tensors are 0 everywhere, and stay 0
//	In(6) constants [groups, CardConstants] float64, as [CardStep.Put] writes them, with one Clip, LossScale and Share
//	In(7) status [CardStatus] float64, of which StatusOdd is read and the others are written
//	In(8) averages of the weights [n] float32; there are none without averages
//
//	norm = sqrt(squares)/LossScale
//	applied = norm is finite and no loss is odd
//	where applied: AdamW as [NewAdamW] has it, with GradScale = min(1, Clip/(norm + 1e-6))/LossScale, and then
//	[NewEMA] with the new weights
//
// Where it is not applied, nothing but the status changes. It has no result, and needs Kernel.Scratch bytes of scratch
// memory. All sums have a fixed order.
func CardUpdate(groups []int, halves, averages bool) Kernel {
	n := 0
	for _, elements := range groups {
		n += elements
	}
	squares, partials := sumSquares(cuda.In(3), n)
	decision := cuda.Temp().At(8 * int64(partials))
	const decisionBytes = 64 // more than the kernels' struct Decision
	k := Kernel{Scratch: decision.Offset + decisionBytes, Launches: []cuda.Launch{squares}}
	first := int64(0)
	for i, elements := range groups {
		at := func(operand int) cuda.Arg { return cuda.Ptr(cuda.In(operand).At(4 * first)) }
		half, average, bytes := cuda.Null(), cuda.Null(), 28
		if halves {
			half, bytes = cuda.Ptr(cuda.In(4).At(2*first)), bytes+2
		}
		if averages {
			average, bytes = at(8), bytes+8
		}
		constants := cuda.In(6).At(8 * CardConstants * int64(i))
		k.Launches = append(k.Launches, cuda.Launch{
			Kernel: "update_decide", Block: threads, Bytes: 8 * int64(partials), FLOPs: float64(partials),
			Args: []cuda.Arg{cuda.Ptr(cuda.Temp()), cuda.Int(partials), cuda.Ptr(constants), cuda.Ptr(cuda.In(7)), cuda.Ptr(decision)},
		}, byElements("update_weights", elements, bytes, 20,
			at(0), at(1), at(2), at(3), half, average,
			cuda.Ptr(cuda.In(5).At(first/DecayElements)), cuda.Ptr(decision), cuda.Long(int64(elements))))
		first += int64(elements)
	}
	return k
}

// CardLosses adds the number of losses that are not finite to a status.
//
//	In(0) losses [n] float32, In(1) status [CardStatus] float64
func CardLosses(n int) cuda.Launch {
	return cuda.Launch{
		Kernel: "update_losses", Block: threads, Bytes: 4 * int64(n), FLOPs: float64(n),
		Args: []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Int(n), cuda.Ptr(cuda.In(1))},
	}
}

// CardHalves makes the float16 copy of weights.
//
//	In(0) weights [n] float32, In(1) their copy [n] float16
func CardHalves(n int) cuda.Launch {
	return byElements("update_halves", n, 6, 0, cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Long(int64(n)))
}

// CardExchange has weights and their averages change places.
//
//	In(0) weights [n], In(1) averages [n]: float32
func CardExchange(n int) cuda.Launch {
	return byElements("update_exchange", n, 16, 0, cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Long(int64(n)))
}
