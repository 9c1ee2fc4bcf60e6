//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"sync"

	"gorgonia.org/cu"

	"konkanitrain/device"
)

// card is an opened card. What has no lock of its own is touched on its thread only.
type card struct {
	thread *thread
	device cu.Device
	sync   bool // wait for each launch

	context      cu.CUContext
	work, copies cu.Stream
	worked       cu.Event // where work was when Join was queued
	copied       cu.Event // where copies were
	staging      *pinned  // for reads and writes of buffers
	blas         *blas
	modules      []cu.Module
	functions    map[string]cu.Function
	lost         error // what the context was lost by

	memory device.Counter
	host   device.Counter // of pinned memory

	mu       sync.Mutex
	info     Info
	counters Counters

	closing sync.Once
}

// Open opens a card, and cuBLAS on it. Its memory is that of the process's primary context.
func Open(o Options) (Card, error) {
	info, err := choose(o)
	if err != nil {
		return nil, err
	}
	info.Graphs = !o.NoGraphs && !o.Sync
	c := &card{thread: newThread(), sync: o.Sync, device: cu.Device(info.Index), info: info, functions: map[string]cu.Function{}}
	if err := c.thread.do(func() error { return c.open(o) }); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// open makes what a card needs, on its thread.
func (c *card) open(o Options) (err error) {
	if err := c.enter(); err != nil {
		return err
	}
	for _, s := range []*cu.Stream{&c.work, &c.copies} {
		if *s, err = cu.MakeStream(cu.NonBlocking); err != nil {
			return said("cuStreamCreate", err)
		}
	}
	for _, e := range []*cu.Event{&c.worked, &c.copied} {
		if *e, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return said("cuEventCreate", err)
		}
	}
	if c.staging, err = c.pin(stagingBytes, "copies to and from "+c.Name()); err != nil {
		return err
	}
	if c.blas, err = c.openBLAS(o.BLAS); err != nil {
		return err
	}
	c.info.BLAS, c.info.BLASVersion, c.info.Workspace = c.blas.name, c.blas.version, c.blas.size()
	return nil
}

// enter makes the primary context, current on this thread. A wait in it gives the processor to other threads.
func (c *card) enter() error {
	c.device.SetPrimaryCtxFlags(cu.SchedBlockingSync) // where the context is there already it stays as it is
	context, err := c.device.RetainPrimaryCtx()
	if err == nil {
		c.context = context
		return said("cuCtxSetCurrent", cu.SetCurrentContext(context))
	}
	e := driverError("cuDevicePrimaryCtxRetain", "", codeOf(err)).(*Error)
	mode, _ := c.device.Attribute(cu.ComputeMode)
	switch code := codeOf(err); {
	case code == codeOutOfMemory:
		none := c.memory.Usage().OutOfMemory(0, "the context of another process", e)
		return fmt.Errorf("%s, %s, has no memory left for the context of another process (nvidia-smi shows who has it): %w",
			c.Name(), c.info.Name, none)
	case mode == modeProhibited:
		e.Hint = ""
		return fmt.Errorf("%w: %s, %s, is in compute mode %s, in which no program may use it: use another card, or have an "+
			"administrator set nvidia-smi -c DEFAULT: %w", ErrCardInUse, c.Name(), c.info.Name, modeName(mode), e)
	case code == codeUnavailable, mode != 0:
		e.Hint = ""
		return fmt.Errorf("%w: %s, %s, is in compute mode %s: wait for the process that has it (nvidia-smi shows it), use another "+
			"card, or have an administrator set nvidia-smi -c DEFAULT: %w", ErrCardInUse, c.Name(), c.info.Name, modeName(mode), e)
	}
	return e
}

// modeProhibited is the compute mode of a card that nobody may use.
const modeProhibited = 2

// modeName is what nvidia-smi calls a compute mode.
func modeName(mode int) string {
	if names := []string{"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"}; mode >= 0 && mode < len(names) {
		return names[mode]
	}
	return fmt.Sprint(mode)
}

// Name is "cuda:0".
func (c *card) Name() string { return fmt.Sprintf("cuda:%d", c.info.Index) }

// Info is what the card is.
func (c *card) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// Counters is what has been done.
func (c *card) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counters
}

// count adds to the counters.
func (c *card) count(add func(n *Counters)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add(&c.counters)
}

// on runs f on the card's thread. Once the context is lost it runs nothing any more.
func (c *card) on(f func() error) error {
	return c.thread.do(func() error {
		if c.lost != nil {
			return c.lost
		}
		err := f()
		if e := (*Error)(nil); errors.As(err, &e) && e.Lost {
			c.lost = fmt.Errorf("%w: %w", ErrLost, err)
		}
		return err
	})
}

// Close waits for what is queued and gives everything back, as far as a lost context lets it. A second call does
// nothing.
func (c *card) Close() (err error) {
	c.closing.Do(func() {
		err = c.on(c.wait)
		c.thread.do(func() error {
			c.release()
			return nil
		})
		c.thread.end()
	})
	return err
}

// release gives back what Open and Load have made, in any state of either.
func (c *card) release() {
	if c.context == (cu.CUContext{}) {
		return
	}
	if c.blas != nil {
		c.blas.close()
	}
	if c.staging != nil {
		c.staging.free()
	}
	for _, m := range c.modules {
		m.Unload()
	}
	for _, e := range []cu.Event{c.worked, c.copied} {
		if e != (cu.Event{}) {
			cu.DestroyEvent(&e)
		}
	}
	for _, s := range []cu.Stream{c.work, c.copies} {
		if s != (cu.Stream{}) {
			s.Destroy()
		}
	}
	cu.SetCurrentContext(cu.CUContext{})
	c.device.ReleasePrimaryCtx()
}
