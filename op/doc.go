// Package op is the network's vocabulary: every operation as a Gorgonia op, forward and backward.
//
// An [Op] is a value that says what an operation is called, what shapes it takes, how it is computed and which
// ops make its gradient. It is computed in three ways: Run is the float32 kernel that the engine calls in planned
// memory; Do wraps Run for Gorgonia's own TapeMachine; Ref is the specification, plain float64 loops that anyone
// can check by eye.
// Tests hold Run to Ref, and Ref to finite differences of itself.
//
// Batch invariance is the rule that every op keeps: what comes out for an utterance never depends on its
// batch mates, on its row or on padding. An op that looks sideways in time takes the lengths and reads no
// frame past them; a random draw is keyed by the utterance and the position inside it. A padded row may hold
// anything finite on the way forward, and holds exactly 0 on the way back.
//
// Models are built with [Graph], whose methods are the ops. The files of an op are named after it:
// linear.go has the formula, shapes and gradient, linear_cpu.go the kernels, linear_ref.go the specification.
package op
