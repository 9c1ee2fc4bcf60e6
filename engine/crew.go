package engine

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/op"
)

// Crew is the replica on CPUs: a fixed number of workers that share weights. Each takes whole micro-batches: it has an
// arena, a gradient buffer and a BLAS workspace of its own. Kernels are single-threaded; the speed of several cores
// comes from several workers.
type Crew[K comparable] struct {
	*holding[K]
	workers []*worker[K]
	done    chan error
	tables  int64 // bytes of tables when machines were bound: they are bound anew when tables have grown

	// What the workers work on, and their tasks, made once because a method value is an allocation.
	pass      *Pass[K]
	ran       []*worker[K]  // in Reduce: who has gradients
	reduced   device.Buffer // the sum of gradients, until Update has used it; nil without one
	pieces    pieces
	kernels   flatKernels
	constants []stepConstants // of the step of AdamW, for each group of the layout
	share     [1]float32      // of the new weights in their averages
	run       func(*worker[K]) error
	tasks     tasks[K]
}

// worker is one of a crew. Within a task it belongs to one goroutine.
type worker[K comparable] struct {
	index    int
	crew     *Crew[K]
	tasks    chan func(*worker[K]) error
	env      op.Env
	machines map[*Program]*Machine
	profile  *Profile // nil: nothing is measured
	runs     int      // since the gradients were last taken: 0 means that they are not there

	operands, sources []op.Tensor // memory for the operands of a kernel on flat buffers
}

// enoughRows is the number of rows of a micro-batch's matrices from which on products run at full speed on one core.
const enoughRows = 256

// NewCrew starts workers on the host's memory, one for each core if workers is 0. With train they have gradient
// buffers, and there are moments.
func NewCrew[K comparable](dev device.Device, lib *Library[K], workers int, train bool) (*Crew[K], error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	h, err := hold(dev, lib, workers, train, nil)
	if err != nil {
		return nil, err
	}
	if h.weights.Size() > 0 && h.weights.Host() == nil {
		h.free()
		return nil, fmt.Errorf("a crew needs memory that the host can address: that of device %s is not", dev.Name())
	}
	c := &Crew[K]{holding: h, done: make(chan error, workers), pieces: cut(h.layout), kernels: flatKernels{}, constants: make([]stepConstants, len(h.layout.Groups))}
	c.programs.Dropped = c.forget
	c.run = c.runBatches
	c.tasks = tasks[K]{reduce: c.reducePieces, update: c.updatePieces, finite: c.finitePieces, exchange: c.exchangePieces}
	for i := range workers {
		w := &worker[K]{index: i, crew: c, env: op.Env{BLAS: op.NewBLAS()}, machines: map[*Program]*Machine{}, tasks: make(chan func(*worker[K]) error)}
		c.workers = append(c.workers, w)
		go func() {
			for task := range w.tasks {
				c.done <- w.do(task)
			}
		}()
	}
	return c, nil
}

// do runs task once on each worker at the same time and waits for all. It returns the first error. A panic inside a
// task is a mistake in this program; it comes back as an error with its stack, so that the caller can still save what
// it has.
func (c *Crew[K]) do(task func(*worker[K]) error) error {
	if err := c.usable(); err != nil {
		return err
	}
	for _, w := range c.workers {
		w.tasks <- task
	}
	var first error
	for range c.workers {
		if err := <-c.done; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (w *worker[K]) do(task func(*worker[K]) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("worker %d broke down: %v\n%s", w.index, r, debug.Stack())
		}
	}()
	return task(w)
}

// Wishes are one micro-batch for each worker, with enough rows to keep a core busy.
func (c *Crew[K]) Wishes() Wishes { return Wishes{Workers: len(c.workers), Rows: enoughRows} }

// Prepare compiles, makes arenas large enough, and binds each batch's program to its worker's memory. A program that is
// bound already costs a look at a map.
func (c *Crew[K]) Prepare(batches []Batch[K], bytes int64) error {
	moved, err := c.prepare(batches, bytes)
	if moved {
		c.unbind()
	}
	if err != nil {
		return err
	}
	for {
		for _, b := range batches {
			p, err := c.programs.Get(b.Key)
			if err != nil {
				return err
			}
			if _, err := c.workers[b.Worker].machine(p); err != nil {
				return err
			}
		}
		n := c.net.TableBytes()
		if n == c.tables {
			return nil
		}
		c.tables = n // a longer shape has made a table grow: whoever holds the old one is bound again, so that it is freed
		c.unbind()
	}
}

// unbind forgets all machines.
func (c *Crew[K]) unbind() {
	for _, w := range c.workers {
		clear(w.machines)
	}
}

// forget drops the workers' bindings of a program that is used no more.
func (c *Crew[K]) forget(p *Program) {
	for _, w := range c.workers {
		delete(w.machines, p)
	}
}

// machine is the program bound to the worker's memory; the first call for a program binds it.
func (w *worker[K]) machine(p *Program) (*Machine, error) {
	if m := w.machines[p]; m != nil {
		return m, nil
	}
	memory := Memory{Arena: w.crew.arenas[w.index].Host(), Layout: w.crew.layout, Weights: w.crew.weights.Host(), Shared: w.crew.table}
	if w.crew.train {
		memory.Grads = w.crew.grads[w.index].Host()
	}
	m, err := p.Bind(memory)
	if err != nil {
		return nil, err
	}
	w.machines[p] = m
	return m, nil
}

func (c *Crew[K]) table(name string, shape tensor.Shape) []float32 { return c.net.Table(name, shape) }

// Run makes a pass: each worker runs its batches one after the other.
func (c *Crew[K]) Run(p *Pass[K]) error {
	if err := c.checkWorkers(p.Batches); err != nil {
		return err
	}
	c.pass, c.gradient = p, nil
	err := c.do(c.run)
	if err != nil { // nobody knows what of it is in the gradients
		for _, w := range c.workers {
			w.runs = 0
		}
	}
	return err
}

// runBatches is one worker's part of a pass.
func (c *Crew[K]) runBatches(w *worker[K]) error {
	for i, b := range c.pass.Batches {
		if b.Worker != w.index {
			continue
		}
		m := w.machines[c.programs.kept(b.Key)]
		if m == nil {
			return notPrepared(i, b)
		}
		if err := c.pass.fill(i, m); err != nil {
			return err
		}
		m.Run(&w.env, w.runs > 0, w.profile)
		if m.prog.Grads != nil {
			w.runs++
		}
		if err := c.pass.Collect(i, m); err != nil {
			return err
		}
	}
	return nil
}

func notPrepared[K comparable](i int, b Batch[K]) error {
	return fmt.Errorf("batch %d, %+v, was not prepared for worker %d", i, b.Key, b.Worker)
}

// Usage is what the crew holds.
func (c *Crew[K]) Usage() Usage { return c.usage(len(c.workers)) }

// Shrink makes arenas that are larger as small as bytes.
func (c *Crew[K]) Shrink(bytes int64) {
	if c.shrink(bytes) {
		c.unbind()
	}
}

// Forget drops all programs and their bindings.
func (c *Crew[K]) Forget() {
	c.programs.Clear()
	c.unbind()
}

// Measure makes a pass twice, since the first may be the first to touch its memory, and measures the second.
func (c *Crew[K]) Measure(p *Pass[K]) (*Costs, error) {
	before := make([]*Profile, len(c.workers))
	for i, w := range c.workers {
		before[i] = w.profile
	}
	defer func() {
		for i, w := range c.workers {
			w.profile, w.runs = before[i], 0
		}
	}()
	for range 2 {
		c.StartProfile()
		if err := c.Run(p); err != nil {
			return nil, err
		}
	}
	return c.Profile().Costs(), nil
}

// StartProfile measures every pass from now on.
func (c *Crew[K]) StartProfile() {
	for _, w := range c.workers {
		w.profile = NewProfile()
	}
}

// Profile is the sum of what the workers have measured; nil where nothing is measured.
func (c *Crew[K]) Profile() *Profile {
	if c.workers[0].profile == nil {
		return nil
	}
	sum := NewProfile()
	for _, w := range c.workers {
		sum.Merge(w.profile)
	}
	return sum
}

// Close stops the workers and frees their memory.
func (c *Crew[K]) Close() {
	if c.closed {
		return
	}
	for _, w := range c.workers {
		close(w.tasks)
	}
	c.unbind()
	c.free()
}

var _ Replica[int] = (*Crew[int])(nil)
