package device

import (
	"errors"
	"io"
)

// pooled is a buffer of a pool: a view of a part of a segment.
type pooled struct {
	pool    *Pool
	size    int64
	what    string
	segment *segment // nil without memory: of size 0, or freed
	offset  int64    // in the segment
	host    []byte   // nil where the host can't address it
	freed   bool
}

var errFreed = errors.New("this buffer was given back: its memory may be another's")

// place puts the buffer into a segment.
func (b *pooled) place(s *segment, offset int64) {
	b.segment, b.offset = s, offset
	if host := s.mem.Host(); host != nil {
		b.host = host[offset : offset+b.size : offset+b.size]
	}
}

// Size in bytes, as asked for.
func (b *pooled) Size() int64 { return b.size }

// Host is the buffer's part of the segment's memory.
func (b *pooled) Host() []byte { return b.host }

// Zero clears the memory.
func (b *pooled) Zero() { b.ZeroRange(0, b.size) }

// ZeroRange clears a part of it.
func (b *pooled) ZeroRange(offset, size int64) {
	if b.segment != nil {
		from, to := within(offset, size, b.size)
		b.segment.mem.ZeroRange(b.offset+from, to-from)
	}
}

// ReadAt reads from the segment what lies in the buffer.
func (b *pooled) ReadAt(p []byte, offset int64) (int, error) {
	return b.access(p, offset, io.EOF, Buffer.ReadAt)
}

// WriteAt writes to the segment what lies in the buffer.
func (b *pooled) WriteAt(p []byte, offset int64) (int, error) {
	return b.access(p, offset, io.ErrShortWrite, Buffer.WriteAt)
}

// access reads or writes as much of p as the buffer has from offset on; short is the error if that isn't all.
func (b *pooled) access(p []byte, offset int64, short error, do func(Buffer, []byte, int64) (int, error)) (n int, err error) {
	switch {
	case b.freed:
		return 0, errFreed
	case offset < 0 || offset > b.size:
		return 0, short
	}
	fits := p[:min(int64(len(p)), b.size-offset)]
	if b.segment != nil {
		n, err = do(b.segment.mem, fits, b.offset+offset)
	}
	if err == nil && len(fits) < len(p) {
		err = short
	}
	return n, err
}

// Free leaves the memory to the pool and takes the buffer out of the count, once.
func (b *pooled) Free() { b.pool.free(b) }

// Address is the buffer's place in the memory of the device below, 0 where that has no addresses.
func (b *pooled) Address() uint64 {
	if b.segment == nil {
		return 0
	}
	if a, ok := b.segment.mem.(Addressed); ok && a.Address() != 0 {
		return a.Address() + uint64(b.offset)
	}
	return 0
}
