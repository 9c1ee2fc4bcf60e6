package device

import "sync"

// Null counts and keeps nothing: a plan can be carried out on it without any memory. With a Limit it fails
// as a card of that size would.
type Null struct {
	counter
	Limit int64 // bytes, 0 for none
}

// NewNull is an empty device with a limit in bytes, or without one (0).
func NewNull(limit int64) *Null { return &Null{Limit: limit} }

// Name is "null".
func (n *Null) Name() string { return "null" }

// Alloc counts size bytes.
func (n *Null) Alloc(size int, what string) (Buffer, error) {
	if held := n.Usage().Allocated; n.Limit > 0 && held+int64(size) > n.Limit {
		return nil, &OutOfMemory{What: what, Size: int64(size), Allocated: held}
	}
	n.add(int64(size), 1)
	return &nullBuffer{null: n, size: size}, nil
}

type nullBuffer struct {
	null *Null
	size int
	once sync.Once
}

// Size in bytes, as asked for.
func (b *nullBuffer) Size() int { return b.size }

// Floats is nil: there is no memory.
func (b *nullBuffer) Floats() []float32 { return nil }

// Free takes the buffer out of the count, once.
func (b *nullBuffer) Free() { b.once.Do(func() { b.null.add(-int64(b.size), -1) }) }
