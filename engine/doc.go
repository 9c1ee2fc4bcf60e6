// Package engine compiles Gorgonia graphs and runs them in memory that was planned beforehand.
//
// A network's memory is flat buffers (all weights, all gradients, each moment of the optimizer, one parameter behind
// the other) and, for each worker, an arena for everything in between.
//
// [Compile] turns a graph into a [Program], plain data with a stable text form, by passes that each do one thing.
// Lowering writes the graph down as steps on values: each value is made once, has a name that says where in the
// network it is, an element type, a size in bytes, and no place in memory. Rewrites change the list of steps: sums
// are fused, gradients go straight into the flat buffer, what the backward pass needs is stored in half precision or
// computed again, dead code goes. Then liveness is computed, once; values that can share memory are coalesced into
// buffers; and the plan gives each buffer its offset in the arena. The peak is known to the byte before anything
// runs, and a run allocates nothing.
//
// A Program knows nothing of where memory is. A [Machine] is a Program bound to an arena, weights and gradients in
// the host's memory; it implements gorgonia.VM.
//
// A [Replica] is a network in one memory, ready to run: programs, weights, gradients, moments. A [Crew] of workers on
// CPU cores is one; [Null], which plans and counts and computes nothing, another. Whoever trains or recognizes makes
// one once, and uses it as a Replica. What it must know of its network is [Network]. [Solver] is AdamW for Gorgonia's
// own machines.
package engine
