//go:build gpu

package cuda

import (
	"fmt"
	"io"
	"sync"

	"gorgonia.org/cu"

	"konkanitrain/device"
)

// buffer is memory of a card.
type buffer struct {
	card    *card
	address cu.DevicePtr // 0 for a size of 0
	size    int64
	once    sync.Once
}

// Alloc takes zeros from the driver, which aligns them to 256 bytes.
func (c *card) Alloc(size int64, what string) (device.Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("a buffer of %d bytes for %s: want 0 or more", size, what)
	}
	var b *buffer
	err := c.on(func() (err error) {
		b, err = c.alloc(size, what)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// alloc is Alloc, on the card's thread.
func (c *card) alloc(size int64, what string) (*buffer, error) {
	b := &buffer{card: c, size: size}
	if size > 0 {
		address, err := cu.MemAlloc(size)
		if err != nil {
			return nil, c.noMemory(size, what, err)
		}
		b.address = address
		if err := b.clear(0, size); err != nil {
			cu.MemFree(address)
			return nil, err
		}
	}
	c.memory.Add(size, 1)
	return b, nil
}

// noMemory is the error of an allocation that the driver refused.
func (c *card) noMemory(size int64, what string, err error) error {
	refused := said("cuMemAlloc", err)
	if codeOf(err) != codeOutOfMemory {
		return refused
	}
	if free, total, err := cu.MemInfo(); err == nil {
		refused = fmt.Errorf("%w: of its %d bytes %d are free, in all processes together", refused, total, free)
	}
	return c.memory.Usage().OutOfMemory(size, what, refused)
}

// Usage is what this process holds on the card through Alloc, and cuBLAS's workspace.
func (c *card) Usage() device.Usage { return c.memory.Usage() }

// Trim is 0: what is freed goes back to the driver.
func (c *card) Trim() int64 { return 0 }

// Memory is what the driver says.
func (c *card) Memory() (free, total int64, err error) {
	err = c.on(func() (err error) {
		free, total, err = cu.MemInfo()
		return said("cuMemGetInfo", err)
	})
	return free, total, err
}

// Size in bytes, as asked for.
func (b *buffer) Size() int64 { return b.size }

// Host is nil: the host can't address the memory.
func (b *buffer) Host() []byte { return nil }

// Address is where it begins.
func (b *buffer) Address() uint64 { return uint64(b.address) }

// Zero clears the memory.
func (b *buffer) Zero() { b.ZeroRange(0, b.size) }

// ZeroRange clears a part of it, behind what is queued, and waits for that, so that a copy that is prefetched
// afterwards can't come before it. A context that is lost is what the card's next call says.
func (b *buffer) ZeroRange(offset, size int64) {
	from := min(max(offset, 0), b.size)
	to := from + min(max(size, 0), b.size-from)
	b.card.on(func() error { return b.clear(from, to-from) })
}

// clear is ZeroRange for a part that lies inside, on the card's thread.
func (b *buffer) clear(offset, size int64) error {
	if size == 0 {
		return nil
	}
	if err := cu.MemsetD8Async(b.address+cu.DevicePtr(offset), 0, size, b.card.work); err != nil {
		return said("cuMemsetD8Async", err)
	}
	return b.card.waitWork()
}

// Free gives the memory back, once. The driver waits for what uses it.
func (b *buffer) Free() {
	b.once.Do(func() {
		b.card.memory.Add(-b.size, -1)
		if b.size > 0 {
			b.card.on(func() error { return said("cuMemFree", cu.MemFree(b.address)) })
		}
	})
}

// free is Free, on the card's thread.
func (b *buffer) free() {
	b.once.Do(func() {
		b.card.memory.Add(-b.size, -1)
		cu.MemFree(b.address)
	})
}

// ReadAt copies from the card, behind what is queued.
func (b *buffer) ReadAt(p []byte, offset int64) (int, error) {
	return b.access(p, offset, io.EOF, func(at cu.DevicePtr, part []byte) error {
		c := b.card
		if err := cu.MemcpyDtoHAsync(c.staging.pointer(0), at, int64(len(part)), c.work); err != nil {
			return said("cuMemcpyDtoHAsync", err)
		}
		if err := c.waitWork(); err != nil {
			return err
		}
		copy(part, c.staging.bytes)
		c.count(func(n *Counters) { n.Downloaded += int64(len(part)) })
		return nil
	})
}

// WriteAt copies to the card, behind what is queued.
func (b *buffer) WriteAt(p []byte, offset int64) (int, error) {
	return b.access(p, offset, io.ErrShortWrite, func(at cu.DevicePtr, part []byte) error {
		c := b.card
		copy(c.staging.bytes, part)
		if err := cu.MemcpyHtoDAsync(at, c.staging.pointer(0), int64(len(part)), c.work); err != nil {
			return said("cuMemcpyHtoDAsync", err)
		}
		c.count(func(n *Counters) { n.Uploaded += int64(len(part)) })
		return c.waitWork()
	})
}

// access lets move copy as much of p as the buffer has from offset on, in parts that fit the staging memory; short is
// the error if that isn't all.
func (b *buffer) access(p []byte, offset int64, short error, move func(at cu.DevicePtr, part []byte) error) (n int, err error) {
	if offset < 0 || offset > b.size {
		return 0, short
	}
	fits := p[:min(int64(len(p)), b.size-offset)]
	err = b.card.on(func() error {
		for n < len(fits) {
			part := fits[n:min(n+stagingBytes, len(fits))]
			if err := move(b.address+cu.DevicePtr(offset+int64(n)), part); err != nil {
				return err
			}
			n += len(part)
		}
		return nil
	})
	if err == nil && len(fits) < len(p) {
		err = short
	}
	return n, err
}
