package device

import (
	"sync"
	"unsafe"
)

// Host is the machine's memory. The zero value is ready for use.
type Host struct{ counter }

// NewHost is a device with nothing allocated.
func NewHost() *Host { return &Host{} }

// Name is "cpu".
func (h *Host) Name() string { return "cpu" }

// Alloc maps fresh zero pages. A size of 0 gives a buffer without memory.
func (h *Host) Alloc(size int, what string) (Buffer, error) {
	b := &hostBuffer{host: h, size: size}
	if size > 0 {
		mem, err := mapPages(size)
		if err != nil {
			return nil, &OutOfMemory{What: what, Size: int64(size), Allocated: h.Usage().Allocated, Err: err}
		}
		b.mem = mem
	}
	h.add(int64(size), 1)
	return b, nil
}

type hostBuffer struct {
	host *Host
	size int
	mem  []byte
	once sync.Once
}

// Size in bytes.
func (b *hostBuffer) Size() int { return b.size }

// Floats is all of the memory; up to three bytes at its end that are no whole float32 are left out.
func (b *hostBuffer) Floats() []float32 {
	if len(b.mem) < 4 {
		return []float32{}
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b.mem[0])), b.size/4)
}

// Free gives the pages back and takes the buffer out of the count, once.
func (b *hostBuffer) Free() {
	b.once.Do(func() {
		if b.mem != nil {
			unmapPages(b.mem)
			b.mem = nil
		}
		b.host.add(-int64(b.size), -1)
	})
}

// counter keeps a device's Usage.
type counter struct {
	mu    sync.Mutex
	usage Usage
}

func (c *counter) add(bytes int64, buffers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage.Allocated += bytes
	c.usage.Buffers += buffers
	c.usage.Peak = max(c.usage.Peak, c.usage.Allocated)
}

// Usage is what is held now.
func (c *counter) Usage() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}
