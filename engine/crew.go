package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/internal/simd"
	"konkanitrain/op"
)

// Crew is a fixed number of workers on one device. Each takes whole utterances: it has an arena, a gradient
// buffer and a BLAS workspace of its own, and shares the weights. Kernels are single-threaded; the speed of
// several cores comes from several workers.
type Crew struct {
	Workers []*Worker
	dev     device.Device
	memory  Memory // what all workers share
	tasks   []chan func(*Worker)
	done    chan error
	closed  bool

	// Of Reduce: who has gradients, the sums of squares of the pieces, and addPieces, made once because a method value
	// is an allocation.
	ran     []*Worker
	squares []float64
	add     func(*Worker)
}

// Worker is one of a crew. Within [Crew.Do] it belongs to one goroutine.
type Worker struct {
	Index   int
	Profile *Profile // set to measure
	Runs    int      // since the gradients were last taken: 0 means that Grads holds nothing

	crew     *Crew
	env      op.Env
	arena    device.Buffer
	grads    device.Buffer // nil without training
	machines map[*Program]*Machine
}

// NewCrew starts n workers that share weights (of layout) and tables. With train, each has a gradient buffer.
func NewCrew(dev device.Device, n int, layout *Layout, weights []float32, shared func(string, tensor.Shape) []float32, train bool) (*Crew, error) {
	if n < 1 {
		return nil, fmt.Errorf("crew: %d workers, want 1 or more", n)
	}
	c := &Crew{
		dev: dev, done: make(chan error, n),
		memory: Memory{Layout: layout, Weights: weights, Shared: shared},
	}
	c.add = c.addPieces
	if train {
		c.squares = make([]float64, (layout.Words+pieceWords-1)/pieceWords)
	}
	for i := range n {
		w := &Worker{Index: i, crew: c, env: op.Env{BLAS: op.NewBLAS()}, machines: map[*Program]*Machine{}}
		if train {
			var err error
			if w.grads, err = dev.Alloc(4*layout.Words, fmt.Sprintf("gradients of worker %d", i)); err != nil {
				c.Close()
				return nil, err
			}
		}
		c.Workers = append(c.Workers, w)
		tasks := make(chan func(*Worker))
		c.tasks = append(c.tasks, tasks)
		go func() {
			for task := range tasks {
				c.done <- w.do(task)
			}
		}()
	}
	return c, nil
}

// Do runs task once on each worker at the same time and waits for all. A panic inside a task is a mistake in
// this program; it comes back as an error with its stack, so that the caller can still save what it has.
func (c *Crew) Do(task func(*Worker)) error {
	if c.closed {
		return errors.New("crew: closed, its workers are gone")
	}
	for _, t := range c.tasks {
		t <- task
	}
	var first error
	for range c.tasks {
		if err := <-c.done; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (w *Worker) do(task func(*Worker)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("worker %d broke down: %v\n%s", w.Index, r, debug.Stack())
		}
	}()
	task(w)
	return nil
}

// Reserve makes every worker's arena at least bytes large. Programs bound before an arena moves are bound
// again on their next use; reserving the largest at the start avoids that.
func (c *Crew) Reserve(bytes int) error {
	for _, w := range c.Workers {
		if w.arena != nil && w.arena.Size() >= bytes {
			continue
		}
		if w.arena != nil {
			w.arena.Free()
			w.arena = nil
		}
		clear(w.machines)
		b, err := c.dev.Alloc(bytes, fmt.Sprintf("arena of worker %d", w.Index))
		if err != nil {
			return err
		}
		w.arena = b
	}
	return nil
}

// Machine is the program bound to the worker's memory; the first call for a program binds it.
func (w *Worker) Machine(p *Program) (*Machine, error) {
	if m := w.machines[p]; m != nil {
		return m, nil
	}
	if w.arena == nil {
		return nil, errors.New("crew: no arena is reserved")
	}
	memory := w.crew.memory
	memory.Arena = w.arena.Floats()
	if w.grads != nil {
		memory.Grads = w.grads.Floats()
	}
	m, err := p.Bind(memory)
	if err != nil {
		return nil, err
	}
	w.machines[p] = m
	return m, nil
}

// Run runs m; its gradients are added to those of earlier runs since [Crew.Reduce].
func (w *Worker) Run(m *Machine) {
	m.Run(&w.env, w.Runs > 0, w.Profile)
	if m.prog.Grads != nil {
		w.Runs++
	}
}

// Forget drops the workers' bindings of a program that is used no more.
func (c *Crew) Forget(p *Program) {
	for _, w := range c.Workers {
		delete(w.machines, p)
	}
}

// Reduce adds the gradients of all workers that ran, in the order of the workers. It returns the sum, in the
// memory of the first of them (nil if none ran) and valid until the next Run, and the sum of its squares. Both are
// made in pieces of fixed size that the workers share, so they don't depend on timing. It doesn't allocate.
func (c *Crew) Reduce() (sum []float32, squares float64, err error) {
	c.ran = c.ran[:0]
	for _, w := range c.Workers {
		if w.Runs > 0 {
			c.ran = append(c.ran, w)
			w.Runs = 0
		}
	}
	if len(c.ran) == 0 {
		return nil, 0, nil
	}
	if err := c.Do(c.add); err != nil {
		return nil, 0, err
	}
	for _, s := range c.squares {
		squares += s
	}
	return c.ran[0].grads.Floats(), squares, nil
}

// pieceWords is the size of the pieces that workers take in turn: 128 KB, which stay in the second-level cache between
// the sum and its squares.
const pieceWords = 1 << 15

// addPieces is a worker's part of Reduce: every n-th piece of the buffers of all workers that ran.
func (c *Crew) addPieces(w *Worker) {
	sum := c.ran[0].grads.Floats()
	for i := w.Index; i < len(c.squares); i += len(c.Workers) {
		lo, hi := i*pieceWords, min((i+1)*pieceWords, len(sum))
		for _, other := range c.ran[1:] {
			simd.Add(sum[lo:hi], sum[lo:hi], other.grads.Floats()[lo:hi])
		}
		c.squares[i] = simd.SumSquares(sum[lo:hi])
	}
}

// Close stops the workers and frees their memory.
func (c *Crew) Close() {
	if c.closed {
		return
	}
	c.closed = true
	for _, t := range c.tasks {
		close(t)
	}
	for _, w := range c.Workers {
		for _, b := range []device.Buffer{w.arena, w.grads} {
			if b != nil {
				b.Free()
			}
		}
		clear(w.machines)
	}
}

// Cache keeps programs by shape, the ones used last. Compiling takes milliseconds and a program a few
// hundred kilobytes, so a small cache is enough for all buckets of a run.
type Cache[K comparable] struct {
	Limit   int // programs kept
	Build   func(K) (*Program, error)
	Dropped func(*Program) // called for a program that is dropped; may be nil

	mu       sync.Mutex
	programs map[K]*Program
	recent   []K // least recently used first
}

// Get is the program for shape, compiled on first use.
func (c *Cache[K]) Get(shape K) (*Program, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.programs[shape]; p != nil {
		for i, k := range c.recent {
			if k == shape {
				copy(c.recent[i:], c.recent[i+1:])
				c.recent[len(c.recent)-1] = shape
				break
			}
		}
		return p, nil
	}
	p, err := c.Build(shape)
	if err != nil {
		return nil, err
	}
	if c.programs == nil {
		c.programs = map[K]*Program{}
	}
	for len(c.recent) >= max(c.Limit, 1) {
		oldest := c.recent[0]
		c.recent = c.recent[1:]
		if c.Dropped != nil {
			c.Dropped(c.programs[oldest])
		}
		delete(c.programs, oldest)
	}
	c.programs[shape] = p
	c.recent = append(c.recent, shape)
	return p, nil
}
