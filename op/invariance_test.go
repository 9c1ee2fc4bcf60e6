package op

import (
	"fmt"
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
)

// Batch invariance: what an utterance gets alone, it gets in every batch, every row and under any padding.

// operand is an input of an op as the invariance test needs it: shared by all utterances (a weight), or one
// piece for each utterance, padded along its first dimension when grows is true.
type operand struct {
	shared *Array
	each   []Array // one for each utterance, without the batch dimension
	grows  bool
}

func shared(a Array) operand        { return operand{shared: &a} }
func fixed(each ...Array) operand   { return operand{each: each} }
func growing(each ...Array) operand { return operand{each: each, grows: true} }
func sequence(r *rand.Rand, lengths []int, width ...int) operand {
	o := operand{grows: true}
	for _, n := range lengths {
		o.each = append(o.each, floats(r, append([]int{n}, width...)...))
	}
	return o
}

// checkInvariance runs the op on each utterance alone and on the batch of all, with extra frames of padding that
// hold noise, in two orders of rows. Outputs and gradients of an utterance's own operands must agree within
// tol of the largest value (0: bit for bit), gradients of shared operands must be the sums to rounding.
// outGrows says that the output's dimension after the batch is padded; outLength is its true length per utterance.
func checkInvariance(t *testing.T, tol float64, build func(g *Graph, in []*G.Node) *G.Node, ops []operand, outLength func(utt int) int, extra int) {
	t.Helper()
	utts := 0
	for _, o := range ops {
		utts = max(utts, len(o.each))
	}
	var alone [][]Tensor // [utterance][out, grads...]
	sums := map[int][]float64{}
	for u := range utts {
		b, res := runRows(t, build, ops, []int{u}, outLength, 0)
		alone = append(alone, res)
		for i, n := range b.wrt {
			if k := inputIndex(n); ops[k].shared != nil {
				if sums[k] == nil {
					sums[k] = make([]float64, len(res[i+1].Data))
				}
				for j, v := range res[i+1].Data {
					sums[k][j] += float64(v)
				}
			}
		}
	}
	forward, backward := make([]int, utts), make([]int, utts)
	for u := range utts {
		forward[u], backward[utts-1-u] = u, u
	}
	for _, order := range [][]int{forward, backward} {
		b, res := runRows(t, build, ops, order, outLength, extra)
		for row, u := range order {
			compareRow(t, fmt.Sprintf("output of utterance %d in row %d", u, row), tol, res[0], row, utts, alone[u][0], outLength != nil, false)
			for i, n := range b.wrt {
				k := inputIndex(n)
				if ops[k].shared == nil {
					compareRow(t, fmt.Sprintf("gradient of input %d for utterance %d in row %d", k, u, row), tol, res[i+1], row, utts, alone[u][i+1], ops[k].grows, true)
				}
			}
		}
		for i, n := range b.wrt {
			if k := inputIndex(n); ops[k].shared != nil {
				// The batch sums over all utterances' frames (179 for the biases of attention) in float32, alone each sums
				// over its own: they are 5e-7 apart.
				closeTo(t, fmt.Sprintf("gradient of shared input %d", k), res[i+1].Data, sums[k], 1e-6)
			}
		}
	}
}

func inputIndex(n *G.Node) int {
	var k int
	fmt.Sscanf(n.Name(), "in.%d", &k)
	return k
}

// runRows runs the batch of the utterances named in order, padded to the longest plus extra.
func runRows(t *testing.T, build func(g *Graph, in []*G.Node) *G.Node, ops []operand, order []int, outLength func(int) int, extra int) (*bench, []Tensor) {
	t.Helper()
	noise := rng(1234)
	var in []Array
	for _, o := range ops {
		if o.shared != nil {
			in = append(in, *o.shared)
			continue
		}
		in = append(in, stack(o, order, extra, noise))
	}
	probe := newBench(t, build, in, nil)
	w := floats(rng(7), probe.out.Shape()...)
	if outLength != nil {
		// The gradient that flows in belongs to the utterance, whatever its row, and is 0 on padding.
		each := operand{grows: true}
		width := probe.out.Shape()[2:]
		for u := range maxOf(order) + 1 {
			each.each = append(each.each, floats(rng(uint64(1000+u)), append([]int{outLength(u)}, width...)...))
		}
		w = stackTo(each, order, probe.out.Shape()[1], nil)
	} else {
		size := Size(probe.out.Shape()) / len(order)
		for row, u := range order {
			copy(w.Data[row*size:][:size], floats(rng(uint64(1000+u)), size).Data)
		}
	}
	b := newBench(t, build, in, &w)
	return b, b.run(t, append(G.Nodes{b.out}, b.grads...)...)
}

func maxOf(x []int) int {
	m := 0
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

func stack(o operand, order []int, extra int, noise *rand.Rand) Array {
	longest := 0
	for _, u := range order {
		longest = max(longest, o.each[u].Shape[0])
	}
	if o.grows {
		longest += extra
	}
	return stackTo(o, order, longest, noise)
}

// stackTo puts utterances into rows of n, padding with noise or, without noise, with zeros.
func stackTo(o operand, order []int, n int, noise *rand.Rand) Array {
	first := o.each[order[0]]
	width := Size(first.Shape) / max(first.Shape[0], 1)
	out := Array{Shape: append([]int{len(order), n}, first.Shape[1:]...)}
	if len(first.Shape) == 1 && first.Shape[0] == 1 && !o.grows {
		out.Shape = []int{len(order)}
	}
	if first.Ints != nil {
		out.Ints = make([]int32, len(order)*n*width)
	} else {
		out.Data = make([]float64, len(order)*n*width)
	}
	for row, u := range order {
		a := o.each[u]
		if first.Ints != nil {
			copy(out.Ints[row*n*width:], a.Ints)
			continue
		}
		at := out.Data[row*n*width:][:n*width]
		for i := copy(at, a.Data); noise != nil && i < len(at); i++ {
			at[i] = float64(float32(noise.NormFloat64() * 3))
		}
	}
	return out
}

// compareRow compares a row of a batch with the same utterance alone; past the utterance's own length a
// padded gradient must be 0, and a padded output may be anything finite.
func compareRow(t *testing.T, what string, tol float64, batch Tensor, row, rows int, alone Tensor, grows, gradient bool) {
	t.Helper()
	size := len(batch.Data) / rows
	got := batch.Data[row*size:][:size]
	for i, v := range got {
		if v-v != 0 {
			t.Fatalf("%s: element %d is %g", what, i, v)
		}
	}
	if !grows && len(got) != len(alone.Data) {
		t.Fatalf("%s: %d values, alone %d", what, len(got), len(alone.Data))
	}
	if gradient {
		for i, v := range got[len(alone.Data):] {
			if v != 0 {
				t.Fatalf("%s: the gradient is %g in padding, %d past the end", what, v, i)
			}
		}
	}
	want := make([]float64, len(alone.Data))
	for i, v := range alone.Data {
		want[i] = float64(v)
	}
	closeTo(t, what, got[:len(want)], want, tol)
}
