// Package op is the network's vocabulary: every operation as a Gorgonia op, forward and backward, and those that an
// engine and an optimizer need beside the graph.
//
// An [Op] is mathematics: what an operation is called, the types it takes, the ops that make its gradient, and Ref,
// its specification in plain float64 loops that anyone can check by eye. How it is computed is a [Kernel], which an
// op is asked for by [Target] when a program is compiled: the code, the scratch memory and what may share memory on
// that target. Do wraps the CPU's kernel for Gorgonia's own TapeMachine. Tests hold Ref to finite differences of
// itself and kernels to Ref (package internal/optest).
//
// Batch invariance is the rule that every op keeps: what comes out for an utterance never depends on its batch mates,
// on its row or on padding. An op that looks sideways in time takes the lengths and reads no frame past them; a
// random draw is keyed by the utterance and the position inside it. Frames past an utterance's end may hold anything
// finite on the way forward (features even NaN), and hold exactly 0 on the way back. A whole utterance of a batch may
// be absent, with feature length 0 and target length -1: it then contributes nothing.
//
// Models are built with [Graph], whose methods are the ops. The files of an op are named after it: linear.go has the
// formula, shapes and gradient, linear_cpu.go the kernels, linear_ref.go the specification, linear_test.go what the
// cases of optest don't say. What kernels share is in block.go, what ops with lengths share in lengths.go. Ops that
// no graph holds are made by New...: AdamW, Reduce, Finite, MeanAdd, HalfStore and others.
package op
