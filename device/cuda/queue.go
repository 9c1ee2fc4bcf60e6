//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// queue is a card's queue of work, for who runs on its thread.
type queue struct{ c *card }

// Do runs f on the card's thread. f must not call the card's or a buffer's own methods, which would wait for f.
func (c *card) Do(f func(q Queue) error) error {
	return c.on(func() error { return f(queue{c}) })
}

// Run queues a list.
func (q queue) Run(l List) error {
	bound, ok := l.(*list)
	if !ok || bound.card != q.c {
		return fmt.Errorf("a list that was not bound to %s", q.c.Name())
	}
	return bound.run()
}

// Upload queues a copy to the card.
func (q queue) Upload(to Address, from Pinned, offset, bytes int64) error {
	return q.upload(to, from, offset, bytes, q.c.work)
}

// Prefetch queues it beside the work.
func (q queue) Prefetch(to Address, from Pinned, offset, bytes int64) error {
	return q.upload(to, from, offset, bytes, q.c.copies)
}

func (q queue) upload(to Address, from Pinned, offset, bytes int64, s cu.Stream) error {
	p, err := q.part(from, offset, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	q.c.count(func(n *Counters) { n.Uploaded += bytes })
	return said("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(to), p.pointer(offset), bytes, s))
}

// Download queues a copy to the host.
func (q queue) Download(to Pinned, offset int64, from Address, bytes int64) error {
	p, err := q.part(to, offset, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	q.c.count(func(n *Counters) { n.Downloaded += bytes })
	return said("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(p.pointer(offset), cu.DevicePtr(from), bytes, q.c.work))
}

// part checks that a range lies in pinned memory of this card.
func (q queue) part(of Pinned, offset, bytes int64) (*pinned, error) {
	p, ok := of.(*pinned)
	if !ok || p.card != q.c {
		return nil, fmt.Errorf("memory that was not pinned by %s", q.c.Name())
	}
	if size := int64(len(p.bytes)); offset < 0 || bytes < 0 || offset > size || bytes > size-offset {
		return nil, fmt.Errorf("bytes %d to %d of %d bytes of pinned memory", offset, offset+bytes, size)
	}
	return p, nil
}

// Join lets the two streams wait for each other.
func (q queue) Join() error {
	c := q.c
	for _, e := range []struct {
		event    cu.Event
		of, then cu.Stream
	}{{c.copied, c.copies, c.work}, {c.worked, c.work, c.copies}} {
		if err := e.event.Record(e.of); err != nil {
			return said("cuEventRecord", err)
		}
		if err := e.then.Wait(e.event, 0); err != nil {
			return said("cuStreamWaitEvent", err)
		}
	}
	return nil
}

// Copy queues a copy inside the card's memory.
func (q queue) Copy(to, from Address, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return said("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), bytes, q.c.work))
}

// Clear queues zeros.
func (q queue) Clear(to Address, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	q.c.count(func(n *Counters) { n.Clears++ })
	return said("cuMemsetD8Async", cu.MemsetD8Async(cu.DevicePtr(to), 0, bytes, q.c.work))
}

// Wait waits for both streams.
func (q queue) Wait() error { return q.c.wait() }

// WaitWork waits for the work, and so for the copies that it has waited for.
func (q queue) WaitWork() error { return q.c.waitWork() }

// wait waits for everything that is queued, on the card's thread.
func (c *card) wait() error {
	if err := c.waitWork(); err != nil {
		return err
	}
	return c.synchronize(c.copies)
}

// waitWork waits for the work that is queued.
func (c *card) waitWork() error { return c.synchronize(c.work) }

func (c *card) synchronize(s cu.Stream) error {
	c.count(func(n *Counters) { n.Synchronizations++ })
	return said("cuStreamSynchronize", s.Synchronize())
}
