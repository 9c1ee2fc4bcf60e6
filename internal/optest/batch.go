package optest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Batch is an op on utterances, of which each must get what it gets alone: in every batch, in every row, under any
// padding, and with absent rows beside it.
type Batch struct {
	In []Operand
	// Rows is the number of true rows of utterance u's result, those after the batch dimension. It is nil where the
	// result is one number for each utterance, as a loss is.
	Rows func(u int) int
	// Extra is how much longer than its longest utterance the batch is padded.
	Extra int
	// Blind says that nothing past an utterance's length is read: padding and absent rows then hold NaN. Else they hold
	// noise.
	Blind bool
	// Tol bounds the difference from the utterance alone, relative to the largest value; Why is its reason. 0 is
	// equality.
	Tol float64
	Why string
	// SumTol bounds the difference of the gradients of what is shared from the sums of those of the utterances alone; 0
	// is 1e-6: a batch sums over all utterances' frames (up to 179) in float32, alone each sums over its own, which is
	// up to 5e-7 apart.
	SumTol float64
}

// size is the number of utterances.
func (b *Batch) size() (n int) {
	for _, o := range b.In {
		n = max(n, len(o.Each))
	}
	return n
}

// checkBatch runs each utterance alone, and batches of all of them in two orders, with padding and with absent rows.
func checkBatch(m Machine, c Case) error {
	b := c.Batch
	n := b.size()
	var alone []*batchRun
	for u := range n {
		row, err := b.run(m, c, []int{u}, 0)
		if err != nil {
			return err
		}
		alone = append(alone, row)
	}
	forward, backward := make([]int, n), make([]int, n)
	for u := range n {
		forward[u], backward[n-1-u] = u, u
	}
	padding := Rand(1234).NormFloat64
	fill := func() float64 { return float64(float32(3 * padding())) }
	if b.Blind {
		fill = math.NaN
	}
	var checks []error
	for _, order := range [][]int{forward, backward} {
		whole, err := b.run(m, c, order, b.Extra, fill)
		if err != nil {
			return err
		}
		checks = append(checks, b.compareAlone(whole, alone), b.compareSums(m, whole, alone))
		if b.Blind {
			clean, err := b.run(m, c, order, b.Extra)
			if err != nil {
				return err
			}
			checks = append(checks, compareAll("where padding holds NaN instead of 0", whole, clean))
		}
	}
	for _, at := range []int{0, n / 2, n} {
		checks = append(checks, b.checkAbsent(m, c, forward, at, fill, alone))
	}
	return errors.Join(checks...)
}

// batchRun is what came out of a batch.
type batchRun struct {
	*Rig
	order   []int
	padded  []int // rows of each operand
	results []op.Array
}

// operand is the operand that input n of the graph is.
func operand(n *G.Node) (k int) {
	fmt.Sscanf(n.Name(), "in.%d", &k)
	return k
}

// run runs the batch of the utterances named in order, padded to the longest plus extra. Padding is 0 without fill.
func (b *Batch) run(m Machine, c Case, order []int, extra int, fill ...func() float64) (*batchRun, error) {
	run := &batchRun{order: order}
	var in []op.Array
	in, run.padded = arrange(b.In, order, extra, fill...)
	rig, err := newForward(c.Build, in)
	if err != nil {
		return nil, err
	}
	run.Rig = rig
	// The gradient that flows in belongs to the utterance, whatever its row, and is 0 on padding. That of an absent
	// row's loss is not 0.
	shape := rig.Out.Shape()
	flow := op.Array{Data: make([]float64, op.Size(shape)), Shape: shape}
	size := len(flow.Data) / len(order)
	for row, u := range order {
		n := size
		if b.Rows != nil {
			n = 0
			if u != absent {
				n = b.Rows(u) * size / shape[1]
			}
		}
		copy(flow.Data[row*size:], Floats(Rand(uint64(1000+u)), n).Data)
	}
	if err := rig.backward(&flow, c.NoGradient); err != nil {
		return nil, err
	}
	results, err := run.Run(m, run.Results()...)
	for _, x := range results {
		run.results = append(run.results, NewArray(x))
	}
	return run, err
}

// compareAlone compares the rows of a batch with the same utterances alone. Past an utterance's own length a gradient
// must be 0; a result may be anything finite there.
func (b *Batch) compareAlone(batch *batchRun, alone []*batchRun) error {
	for row, u := range batch.order {
		if u == absent {
			continue
		}
		for i, result := range batch.results {
			what, gradient := fmt.Sprintf("result of utterance %d in row %d", u, row), i > 0
			if gradient {
				k := operand(batch.Wrt[i-1])
				if b.In[k].Shared != nil {
					continue
				}
				what = fmt.Sprintf("gradient of input %d for utterance %d in row %d", k, u, row)
			}
			if err := compareRow(result, row, len(batch.order), alone[u].results[i], b.Tol, gradient); err != nil {
				return fmt.Errorf("%s: %w: the tolerance is for %s", what, err, b.Why)
			}
		}
	}
	return nil
}

func compareRow(batch op.Array, row, rows int, alone op.Array, tol float64, gradient bool) error {
	size := len(batch.Data) / rows
	got := batch.Data[row*size:][:size]
	for i, v := range got {
		if v-v != 0 {
			return fmt.Errorf("element %d is %g", i, v)
		}
		if gradient && i >= len(alone.Data) && v != 0 {
			return fmt.Errorf("the gradient is %g in padding, %d past the end", v, i-len(alone.Data))
		}
	}
	if len(got) < len(alone.Data) {
		return fmt.Errorf("%d values, alone %d", len(got), len(alone.Data))
	}
	return Close(got[:len(alone.Data)], alone.Data, tol)
}

// compareSums compares the gradients of shared operands with the sums of those of the utterances alone.
func (b *Batch) compareSums(m Machine, batch *batchRun, alone []*batchRun) error {
	for i, n := range batch.Wrt {
		o := b.In[operand(n)]
		if o.Shared == nil {
			continue
		}
		sum := make([]float64, len(o.Shared.Data))
		for u := range alone {
			b.place(alone[u].results[i+1], o, alone[u].padded[o.By], sum)
		}
		got := make([]float64, len(sum))
		b.place(batch.results[i+1], o, batch.padded[o.By], got)
		if err := Close(got, sum, b.sumTol(m)); err != nil {
			return fmt.Errorf("gradient of shared input %d: %w", operand(n), err)
		}
	}
	return nil
}

// sumTol is what a sum over utterances may be off by on a machine.
func (b *Batch) sumTol(m Machine) float64 { return max(cmp.Or(b.SumTol, 1e-6), m.rounding().sums) }

// place adds the gradient of a batch padded to n to that of the whole of o.Shared.
func (b *Batch) place(grad op.Array, o Operand, n int, sum []float64) {
	at := 0
	if o.Window != nil {
		first, _ := o.Window(n)
		at = first * (len(o.Shared.Data) / o.Shared.Shape[0])
	}
	for j, v := range grad.Data {
		sum[at+j] += v
	}
}

// compareAll compares everything that comes out of two batches, bit for bit.
func compareAll(what string, got, want *batchRun) error {
	for i := range want.results {
		if err := same(got.results[i], want.results[i]); err != nil {
			return fmt.Errorf("result %d %s: %w", i, what, err)
		}
	}
	return nil
}

// checkAbsent puts an absent row before row at of the batch. Each utterance must get what it gets alone, and the
// gradients of what is shared must be what they are without that row, as its terms are 0: to the bit where Tol is 0, on
// a machine that sums in the order of rows. What the row itself gets is finite, its gradients are 0, and so is its
// loss.
func (b *Batch) checkAbsent(m Machine, c Case, order []int, at int, fill func() float64, alone []*batchRun) error {
	with := slices.Insert(slices.Clone(order), at, absent)
	without, err := b.run(m, c, order, b.Extra, fill)
	if err != nil {
		return err
	}
	got, err := b.run(m, c, with, b.Extra, fill)
	if err != nil {
		return err
	}
	sums := b.Tol
	if !m.rounding().ordered {
		sums = b.sumTol(m)
	}
	for i, result := range got.results {
		if i > 0 && b.In[operand(got.Wrt[i-1])].Shared != nil {
			if err := Close(result.Data, without.results[i].Data, sums); err != nil {
				return fmt.Errorf("gradient of input %d with an absent row %d: %w", operand(got.Wrt[i-1]), at, err)
			}
			continue
		}
		size := len(result.Data) / len(with)
		for j, v := range result.Data[at*size:][:size] {
			if zero := i > 0 || b.Rows == nil; v-v != 0 || zero && v != 0 {
				return fmt.Errorf("result %d of the absent row %d: element %d is %g", i, at, j, v)
			}
		}
	}
	if err := b.compareAlone(got, alone); err != nil {
		return fmt.Errorf("beside an absent row %d: %w", at, err)
	}
	return nil
}
