//go:build gpu

package cuda

/*
#include <cuda.h>
#include <string.h>

static int pin(size_t n, void **p) {
	int result = cuMemHostAlloc(p, n, 0);
	if (!result) memset(*p, 0, n);
	return result;
}
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// stagingBytes is the size of the pinned memory through which buffers are read and written.
const stagingBytes = 4 << 20

// pinned is memory of the host that the card can copy from and to.
type pinned struct {
	card  *card
	bytes []byte
	once  sync.Once
}

// Pinned takes it from the driver. Where there is none the error is a *device.OutOfMemory about the host's memory.
func (c *card) Pinned(bytes int64, what string) (Pinned, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("pinned memory of %d bytes for %s: want 0 or more", bytes, what)
	}
	var p *pinned
	err := c.on(func() (err error) {
		p, err = c.pin(bytes, what)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// pin is Pinned, on the card's thread.
func (c *card) pin(bytes int64, what string) (*pinned, error) {
	p := &pinned{card: c}
	if bytes == 0 {
		return p, nil
	}
	var at unsafe.Pointer
	switch err := driverError("cuMemHostAlloc", "", int(C.pin(C.size_t(bytes), &at))).(type) {
	case nil:
	case *Error:
		if err.Code == codeOutOfMemory {
			short := c.host.Usage().OutOfMemory(bytes, what, err)
			err.Hint, short.Advice = "", "it is the host's memory, pinned, that is lacking, not the card's: free some of it"
			return nil, short
		}
		return nil, fmt.Errorf("%d bytes of the host's memory, pinned, for %s: %w", bytes, what, err)
	}
	p.bytes = unsafe.Slice((*byte)(at), bytes)
	c.host.Add(bytes, 1)
	return p, nil
}

// Bytes is the memory.
func (p *pinned) Bytes() []byte { return p.bytes }

// Free gives it back, once. Copies from or to it must be done.
func (p *pinned) Free() {
	p.once.Do(func() {
		p.card.on(func() error {
			p.free()
			return nil
		})
	})
}

// free is Free, on the card's thread.
func (p *pinned) free() {
	if len(p.bytes) > 0 {
		cu.MemFreeHost(p.pointer(0))
		p.card.host.Add(-int64(len(p.bytes)), -1)
		p.bytes = nil
	}
}

// pointer is where byte offset is.
func (p *pinned) pointer(offset int64) unsafe.Pointer { return unsafe.Pointer(&p.bytes[offset]) }
