// Package optest holds every op to its specification, in every way there is: kernels against Ref, Ref's gradients
// against finite differences, kernels in place, in dirty memory and on Gorgonia's tape, and batches against their
// utterances alone. What is checked is data: [Cases] lists the operands of each op, [Check] runs one case on a target.
// A new kernel is tested by running the cases on its target, a new op by adding cases.
//
// Only tests import it.
package optest
