package device

import (
	"fmt"
	"strings"
	"sync"
)

// Usage is a count of bytes.
type Usage struct {
	Allocated    int64 // in live buffers
	Reserved     int64 // held from the system: live buffers, and idle memory kept for the next ones
	Held         int64 // held by the rest of the process, as it has told the device (see Pool.Hold)
	Limit        int64 // the most that Reserved + Held may be; 0: only the system limits it
	Peak         int64 // the most Allocated has been
	PeakReserved int64 // the most Reserved + Held has been
	Buffers      int   // live buffers
}

// Cached is what is reserved and in no buffer, in bytes.
func (u Usage) Cached() int64 { return u.Reserved - u.Allocated }

// OutOfMemory is the error of an allocation of size bytes beside all this. err is what the system said, or nil.
func (u Usage) OutOfMemory(size int64, what string, err error) *OutOfMemory {
	return &OutOfMemory{What: what, Size: size, Allocated: u.Allocated, Reserved: u.Reserved, Held: u.Held, Limit: u.Limit, Err: err}
}

// OutOfMemory is the error of an allocation for which there is no memory. The device fills in what it knows; who
// planned the allocation, and who knows the settings, may add to it on its way up.
type OutOfMemory struct {
	What      string // the buffer's purpose
	Size      int64  // bytes asked for; they are in none of the other counts
	Allocated int64  // bytes in live buffers at that time
	Reserved  int64  // bytes held from the system at that time
	Held      int64  // bytes held by the rest of the process at that time
	Limit     int64  // bytes that may be held in all, 0 if only the system limits it
	Planned   int64  // bytes that the plan was for at its peak, 0 if nobody has said
	Advice    string // what to change, "" if nobody has said
	Err       error  // what the system said, or nil
}

// Error says all that is known.
func (e *OutOfMemory) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "out of memory: no %d bytes for %s: %d are in use, %d cached", e.Size, e.What, e.Allocated, max(e.Reserved-e.Allocated, 0))
	if e.Held > 0 {
		fmt.Fprintf(&s, ", %d held by the rest of the process", e.Held)
	}
	if e.Limit > 0 {
		fmt.Fprintf(&s, ", the limit is %d", e.Limit)
	}
	if e.Err != nil {
		fmt.Fprintf(&s, "; the system says: %v", e.Err)
	}
	if e.Planned > 0 {
		fmt.Fprintf(&s, "; the plan was for %d", e.Planned)
	}
	if e.Advice != "" {
		fmt.Fprintf(&s, "; %s", e.Advice)
	}
	return s.String()
}

// Unwrap is the system's own error.
func (e *OutOfMemory) Unwrap() error { return e.Err }

// Counter keeps the [Usage] of a device that has no idle memory. The zero value is ready for use.
type Counter struct {
	mu    sync.Mutex
	usage Usage
}

// Add counts bytes in so many buffers more, or less where they are below 0.
func (c *Counter) Add(bytes int64, buffers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(bytes, buffers)
}

// count is Add for who has the lock.
func (c *Counter) count(bytes int64, buffers int) {
	u := &c.usage
	u.Allocated += bytes
	u.Reserved += bytes
	u.Buffers += buffers
	u.Peak = max(u.Peak, u.Allocated)
	u.PeakReserved = max(u.PeakReserved, u.Reserved)
}

// Usage is what is held now.
func (c *Counter) Usage() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

// within is the part of the range of size bytes from offset on that lies in the first length bytes. What is below 0
// counts as 0.
func within(offset, size, length int64) (from, to int64) {
	from = min(max(offset, 0), length)
	return from, from + min(max(size, 0), length-from)
}
