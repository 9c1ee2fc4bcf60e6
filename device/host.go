package device

import (
	"io"
	"math"
	"sync"
)

// Host is the machine's memory. The zero value is ready for use.
type Host struct{ counter Counter }

// NewHost is a device with nothing allocated.
func NewHost() *Host { return &Host{} }

// Name is "cpu".
func (h *Host) Name() string { return "cpu" }

// Usage is what is held now.
func (h *Host) Usage() Usage { return h.counter.Usage() }

// Trim is 0: what is freed is given back at once.
func (h *Host) Trim() int64 { return 0 }

// Alloc maps fresh zero pages. A size of 0 gives a buffer without memory.
func (h *Host) Alloc(size int64, what string) (Buffer, error) {
	b := &hostBuffer{host: h}
	if size > 0 {
		mem, err := mapPages(int(min(size, math.MaxInt))) // what doesn't fit an int doesn't fit the memory either
		if err != nil {
			return nil, h.Usage().OutOfMemory(size, what, err)
		}
		b.mem = mem
	}
	b.size = size
	h.counter.Add(size, 1)
	return b, nil
}

type hostBuffer struct {
	host *Host
	size int64
	mem  []byte
	once sync.Once
}

// Size in bytes.
func (b *hostBuffer) Size() int64 { return b.size }

// Host is the memory.
func (b *hostBuffer) Host() []byte { return b.mem }

// Zero clears the memory.
func (b *hostBuffer) Zero() { clear(b.mem) }

// ZeroRange clears a part of it.
func (b *hostBuffer) ZeroRange(offset, size int64) {
	from, to := within(offset, size, int64(len(b.mem)))
	clear(b.mem[from:to])
}

// ReadAt copies bytes from offset on to p.
func (b *hostBuffer) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset > int64(len(b.mem)) {
		return 0, io.EOF
	}
	n := copy(p, b.mem[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt copies p to the bytes from offset on.
func (b *hostBuffer) WriteAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset > int64(len(b.mem)) {
		return 0, io.ErrShortWrite
	}
	n := copy(b.mem[offset:], p)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// Free gives the pages back and takes the buffer out of the count, once.
func (b *hostBuffer) Free() {
	b.once.Do(func() {
		if b.mem != nil {
			unmapPages(b.mem)
			b.mem = nil
		}
		b.host.counter.Add(-b.size, -1)
	})
}
