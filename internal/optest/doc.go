// Package optest holds every op to its specification, in every way there is: kernels against Ref, Ref's gradients
// against finite differences, kernels in place, in dirty memory and on Gorgonia's tape, and batches against their
// utterances alone. What is checked is data: [Cases] lists the operands of each op, [Check] runs one case on a
// [Machine]: the processor, or a card in either precision. A [Case] is one of three: operands of an op in a graph (In),
// an op outside of graphs (Make), or utterances in batches (Batch). An op of a graph needs one of the first and one of
// the last. A new kernel is tested by running the cases on its machine.
//
// Only tests import it.
package optest
