// Package device says where bytes live. It is about memory only (allocate, free, read, write, zero, count), never
// about maths: kernels belong to the ops.
//
// [Host] is the machine's own memory, taken from the operating system outside Go's heap, so that a buffer of n bytes
// takes n bytes and gives them back when it is freed. [Null] counts and keeps nothing: it tells how much a plan would
// take.
package device

import (
	"fmt"
	"io"
)

// Device allocates buffers and counts them. Its methods may be called from several goroutines.
type Device interface {
	// Name is "cpu" or "null".
	Name() string
	// Alloc returns size bytes of zeros, aligned to 64 bytes, or an [*OutOfMemory] error. what names the buffer's
	// purpose in messages ("arena of worker 0").
	Alloc(size int64, what string) (Buffer, error)
	// Usage is what is held now.
	Usage() Usage
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
	// Host is the memory itself, or nil where the host can't address it.
	Host() []byte
	// Free gives the memory back; the buffer and all views of it are dead then. A second call does nothing.
	Free()
}

// Usage is a count of bytes.
type Usage struct {
	Allocated int64 // in live buffers
	Peak      int64 // the most Allocated has been
	Buffers   int   // live buffers
}

// OutOfMemory is the error of an allocation for which there is no memory. What to do about it is known to whoever
// asked.
type OutOfMemory struct {
	What      string // the buffer's purpose
	Size      int64  // bytes asked for
	Allocated int64  // bytes in live buffers at that time
	Limit     int64  // bytes that the device may hold, 0 if only the system limits it
	Err       error  // what the system said, or nil
}

// Error says what was to be allocated and how much is taken.
func (e *OutOfMemory) Error() string {
	s := fmt.Sprintf("out of memory: no %d bytes for %s beside the %d allocated", e.Size, e.What, e.Allocated)
	if e.Limit > 0 {
		s += fmt.Sprintf(", the limit is %d", e.Limit)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is the system's own error.
func (e *OutOfMemory) Unwrap() error { return e.Err }
