// Package engine compiles Gorgonia graphs and runs them in memory that was planned beforehand.
//
// [Compile] turns a graph into a [Program]: plain data with a stable text form, made by passes that each do
// one thing: the order of what is needed -> lifetimes -> places of leaves -> steps, with aliases, in-place results and
// fused sums -> gradients -> half-precision storage -> scratch -> offsets. The plan says where in the arena each intermediate lies, so the peak is known to the byte
// before anything runs, and a run allocates nothing.
//
// A Program knows nothing of where memory is. A [Machine] is a Program bound to one worker's arena, the shared
// weights and the worker's gradients; it implements gorgonia.VM. A [Crew] is the workers: each takes whole
// utterances, and their gradients are summed in a fixed order.
package engine
