// Package device says where bytes live. It is about memory only (allocate, free, read, write, zero, count), never
// about maths: kernels belong to the ops.
//
// [Host] is the machine's own memory, taken from the operating system outside Go's heap, so that a buffer of n bytes
// takes n bytes and gives them back when it is freed. [Null] counts and keeps nothing: it tells how much a plan would
// take. [Pool] keeps what is freed of either for the next buffers, under a limit. Package faulty, below, is a device
// that fails when a test wants it to.
package device

import "io"

// Device allocates buffers and counts them. Its methods may be called from several goroutines.
type Device interface {
	// Name is "cpu" or "null".
	Name() string
	// Alloc returns size bytes of zeros, aligned to 64 bytes, or an [*OutOfMemory] error. what names the buffer's
	// purpose in messages ("arena of worker 0").
	Alloc(size int64, what string) (Buffer, error)
	// Usage is what is held now.
	Usage() Usage
	// Trim gives idle memory back to the system and returns how much, in bytes. Only a [Pool] has some.
	Trim() int64
}

// Buffer is memory on a device. Its contents can be read and written from the host at any offset, in bytes: by
// [io.NewSectionReader] and [io.NewOffsetWriter] parts of it are streams. A read or write that goes past the end does
// what fits and returns an error.
type Buffer interface {
	io.ReaderAt
	io.WriterAt
	// Size in bytes.
	Size() int64
	// Zero sets every byte to 0.
	Zero()
	// ZeroRange sets size bytes from offset on to 0, those of them that are in the buffer.
	ZeroRange(offset, size int64)
	// Host is the memory itself, or nil where the host can't address it.
	Host() []byte
	// Free gives the memory back; the buffer and all views of it are dead then. A second call does nothing.
	Free()
}

// Addressed is a buffer in memory that the host can't address, but knows the address of.
type Addressed interface {
	// Address is where the buffer begins in its device's memory; 0 where it has none.
	Address() uint64
}
