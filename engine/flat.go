package engine

import (
	"konkanitrain/device"
	"konkanitrain/op"
)

// What a crew does with its flat buffers: workers take pieces of a fixed size in turn, so that no sum depends on their
// number or on timing.

// pieceElements is the size of the pieces in elements: 128 KB, which stay in the second-level cache between the sum of
// gradients and its squares.
const pieceElements = 1 << 15

// tasks are what workers do with flat buffers.
type tasks[K comparable] struct {
	reduce, update, finite, exchange func(*worker[K]) error
}

// piece is a part of the flat buffers.
type piece struct {
	offset int64 // bytes
	n      int   // elements
	group  int   // of the parameter that it belongs to: an index into Layout.Groups
	decay  bool  // of that parameter
}

// pieces are a layout cut up in two ways, and what a task leaves for each piece.
type pieces struct {
	buffer  []piece // of what is learned, as a whole
	tensors []piece // each inside one tensor
	learned []piece // the first of tensors: the others are frozen
	squares []float64
	odd     []int32 // index of the first element that is not finite, or -1
}

func cut(l *Layout) pieces {
	split := func(list []piece, offset, bytes int64, t Placed) []piece {
		const most = 4 * pieceElements
		for lo := int64(0); lo < bytes; lo += most {
			list = append(list, piece{offset + lo, int(min(most, bytes-lo) / 4), t.Group, t.Decay})
		}
		return list
	}
	p := pieces{buffer: split(nil, 0, l.Learned, Placed{})}
	for _, t := range l.Tensors {
		p.tensors = split(p.tensors, t.Offset, t.Bytes(), t)
		if !t.Frozen {
			p.learned = p.tensors
		}
	}
	p.squares, p.odd = make([]float64, len(p.buffer)), make([]int32, len(p.tensors))
	return p
}

// of is a piece of a flat buffer.
func (p piece) of(b device.Buffer) op.Tensor {
	return op.Tensor{Data: floats(b.Host()[p.offset:][:4*p.n])}
}

// flatKernels are the kernels for pieces, by the op and its sizes: made at their first use, so that a step allocates
// nothing later.
type flatKernels map[flatOp]op.Kernel

type flatOp struct {
	name string
	n    int // elements
	of   int // a further parameter
}

// prepare makes the kernels of an op for all pieces of a list.
func (k flatKernels) prepare(name string, of int, list []piece, make func(n int) *op.Op) error {
	for _, p := range list {
		key := flatOp{name, p.n, of}
		if _, made := k[key]; made {
			continue
		}
		kernel, err := make(p.n).Kernel(op.CPU)
		if err != nil {
			return err
		}
		k[key] = kernel
	}
	return nil
}

// flat runs the kernel of an op on a piece. The operands' memory is the worker's, so that a call allocates nothing.
func (w *worker[K]) flat(name string, of int, p piece, out op.Tensor, in ...op.Tensor) {
	w.operands = append(w.operands[:0], in...)
	w.env.Add, w.env.Scratch = false, nil
	w.crew.kernels[flatOp{name, p.n, of}].Run(&w.env, out, w.operands)
}

// Reduce adds the gradients of all workers that ran, in the order of the workers, to those of the first of them.
func (c *Crew[K]) Reduce() (squares float64, err error) {
	if err := c.usable(); err != nil {
		return 0, err
	}
	c.ran = c.ran[:0]
	for _, w := range c.workers {
		if w.runs > 0 {
			c.ran = append(c.ran, w)
			w.runs = 0
		}
	}
	c.reduced = nil
	if len(c.ran) == 0 {
		return 0, nil
	}
	n := len(c.ran)
	err = c.kernels.prepare("reduce", n, c.pieces.buffer, func(elements int) *op.Op { return op.NewReduce(elements, n) })
	if err != nil {
		return 0, err
	}
	if err := c.do(c.tasks.reduce); err != nil {
		return 0, err
	}
	c.reduced = c.grads[c.ran[0].index]
	c.gradient = c.reduced
	for _, s := range c.pieces.squares {
		squares += s
	}
	return squares, nil
}

// reducePieces is a worker's part of Reduce: every n-th piece of the buffers of all workers that ran.
func (c *Crew[K]) reducePieces(w *worker[K]) error {
	for i := w.index; i < len(c.pieces.buffer); i += len(c.workers) {
		p := c.pieces.buffer[i]
		w.sources = w.sources[:0]
		for _, other := range c.ran {
			w.sources = append(w.sources, p.of(c.grads[other.index]))
		}
		w.flat("reduce", len(c.ran), p, op.Tensor{Doubles: c.pieces.squares[i : i+1]}, w.sources...)
	}
	return nil
}

// change runs a task that writes weights or moments, which its error leaves half written.
func (c *Crew[K]) change(task func(*worker[K]) error) error {
	err := c.do(task)
	if err != nil {
		c.broken = &BrokenError{err}
		err = c.broken
	}
	return err
}

// Finite names the first weight that is not a finite number.
func (c *Crew[K]) Finite() (*NotFinite, error) {
	if err := c.kernels.prepare("finite", 0, c.pieces.tensors, op.NewFinite); err != nil {
		return nil, err
	}
	if err := c.do(c.tasks.finite); err != nil {
		return nil, err
	}
	for i, at := range c.pieces.odd {
		if at < 0 {
			continue
		}
		p := c.pieces.tensors[i]
		for _, t := range c.layout.Tensors { // in the order of their offsets
			if p.offset < t.Offset+t.Bytes() {
				return &NotFinite{t.Name, int((p.offset-t.Offset)/4) + int(at), p.of(c.weights).Data[at]}, nil
			}
		}
	}
	return nil, nil
}

func (c *Crew[K]) finitePieces(w *worker[K]) error {
	for i := w.index; i < len(c.pieces.tensors); i += len(c.workers) {
		p := c.pieces.tensors[i]
		w.flat("finite", 0, p, op.Tensor{Ints: c.pieces.odd[i : i+1]}, p.of(c.weights))
	}
	return nil
}

// Initialize gives all weights their start values, and zeros to the moments.
func (c *Crew[K]) Initialize(seed uint64) error {
	if err := c.usable(); err != nil {
		return err
	}
	for _, t := range c.layout.Tensors {
		c.net.Start(t.Name, seed, floats(c.layout.view(c.weights.Host(), t.Name)))
	}
	for _, b := range c.moments {
		if b != nil {
			b.Zero()
		}
	}
	return nil
}

// Mean replaces the weights by the mean of themselves and of up to n others.
func (c *Crew[K]) Mean(n int, load func(i int) error) (used []int, err error) {
	if err := c.trains(); err != nil {
		return nil, err
	}
	sum, one, lost := c.weights, c.moments[0], c.moments[1]
	lost.Zero()
	if err := c.kernels.prepare("mean.add", 0, c.pieces.buffer, op.NewMeanAdd); err != nil {
		return nil, err
	}
	for i := range n {
		if load(i) != nil {
			continue
		}
		used = append(used, i)
		err := c.change(func(w *worker[K]) error {
			for k := w.index; k < len(c.pieces.buffer); k += len(c.workers) {
				p := c.pieces.buffer[k]
				s := p.of(sum)
				w.flat("mean.add", 0, p, s, s, p.of(lost), p.of(one))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	count := len(used) + 1
	err = c.kernels.prepare("mean.end", count, c.pieces.buffer, func(elements int) *op.Op { return op.NewMeanEnd(elements, count) })
	if err != nil {
		return nil, err
	}
	err = c.change(func(w *worker[K]) error {
		for k := w.index; k < len(c.pieces.buffer); k += len(c.workers) {
			p := c.pieces.buffer[k]
			s := p.of(sum)
			w.flat("mean.end", count, p, s, s)
		}
		return nil
	})
	return used, err
}
