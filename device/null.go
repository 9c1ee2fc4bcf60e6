package device

import (
	"errors"
	"sync"
)

// Null counts and keeps nothing: a plan can be carried out on it without any memory. With a Limit it fails
// as a card of that size would.
type Null struct {
	counter Counter
	Limit   int64 // bytes, 0 for none
}

// NewNull is an empty device with a limit in bytes, or without one (0).
func NewNull(limit int64) *Null { return &Null{Limit: limit} }

// Name is "null".
func (n *Null) Name() string { return "null" }

// Trim is 0: nothing is kept.
func (n *Null) Trim() int64 { return 0 }

// Alloc counts size bytes.
func (n *Null) Alloc(size int64, what string) (Buffer, error) {
	n.counter.mu.Lock()
	defer n.counter.mu.Unlock()
	u := n.counter.usage
	u.Limit = n.Limit
	if n.Limit > 0 && size > n.Limit-u.Allocated {
		return nil, u.OutOfMemory(size, what, nil)
	}
	n.counter.count(size, 1)
	return &nullBuffer{null: n, size: size}, nil
}

// Usage is what is counted now.
func (n *Null) Usage() Usage {
	u := n.counter.Usage()
	u.Limit = n.Limit
	return u
}

type nullBuffer struct {
	null *Null
	size int64
	once sync.Once
}

var errNull = errors.New("the null device keeps no bytes: there is nothing to read")

// Size in bytes, as asked for.
func (b *nullBuffer) Size() int64 { return b.size }

// Host is nil: there is no memory.
func (b *nullBuffer) Host() []byte { return nil }

// Zero has nothing to do.
func (b *nullBuffer) Zero() {}

// ZeroRange has nothing to do.
func (b *nullBuffer) ZeroRange(_, _ int64) {}

// ReadAt is an error: nothing was kept.
func (b *nullBuffer) ReadAt([]byte, int64) (int, error) { return 0, errNull }

// WriteAt forgets p.
func (b *nullBuffer) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// Free takes the buffer out of the count, once.
func (b *nullBuffer) Free() { b.once.Do(func() { b.null.counter.Add(-b.size, -1) }) }
