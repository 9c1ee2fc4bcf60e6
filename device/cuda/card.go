package cuda

import (
	"errors"
	"fmt"

	"konkanitrain/device"
)

// Address is a place in a card's memory.
type Address uint64

// AddressOf is where a buffer of a card begins.
func AddressOf(b device.Buffer) Address {
	if a, ok := b.(device.Addressed); ok {
		return Address(a.Address())
	}
	return 0
}

// Card is an opened card: memory, and a queue of work that runs in its order, later. One goroutine uses its queue at a
// time. All driver calls come from one locked thread.
type Card interface {
	device.Device // Name is "cuda:0"; buffers have no Host, and an Address. Reads and writes of a buffer wait for the queue.

	// Info is what the card is.
	Info() Info
	// Memory is what the driver says of the card's memory, all processes together, in bytes.
	Memory() (free, total int64, err error)
	// Pinned is memory of the host that the card copies from and to by itself, filled with zeros. Where there is none the
	// error is a *device.OutOfMemory.
	Pinned(bytes int64, what string) (Pinned, error)
	// Load makes the kernels of PTX modules callable; Kernels of a Launch are looked up among those of all modules.
	Load(modules map[string][]byte) error
	// Bind resolves launches to a list. at says where an operand of launch i lies. Where the driver has graphs the list is
	// captured as one when it is queued for the second time: by then all that it needs is loaded, and a list that is
	// queued once costs none.
	Bind(launches []Launch, at func(i int, r Ref) Address) (List, error)
	// Do runs f on the card's thread, with the queue: several pieces of work cost one change of threads. Its error is f's.
	Do(f func(q Queue) error) error
	// Counters is what has been done since the card was opened.
	Counters() Counters
	// Close gives back everything. What is queued is waited for.
	Close() error
}

// Queue is where work is queued, inside Card.Do.
type Queue interface {
	// Run queues a list.
	Run(l List) error
	// Upload queues a copy of bytes of pinned memory to the card. The memory must not change until the copy is done.
	Upload(to Address, from Pinned, offset, bytes int64) error
	// Download queues the way back.
	Download(to Pinned, offset int64, from Address, bytes int64) error
	// Prefetch is Upload on a second queue, that of copies, which doesn't wait for work that is queued; what is queued
	// behind the next Join waits for it.
	Prefetch(to Address, from Pinned, offset, bytes int64) error
	// Join lets what is queued from here on wait for the copies of Prefetch, and copies that are prefetched from here on
	// wait for what is queued now.
	Join() error
	// Copy queues a copy inside the card's memory.
	Copy(to, from Address, bytes int64) error
	// Clear queues zeros.
	Clear(to Address, bytes int64) error
	// Wait waits for everything that is queued.
	Wait() error
	// WaitWork waits for it but for the copies of Prefetch behind the last Join.
	WaitWork() error
}

// List is bound work.
type List interface {
	// Launches is the number of launches that a run costs without a graph.
	Launches() int
	// Free forgets what the list holds (a graph). It must not be queued any more.
	Free()
}

// Pinned is memory of the host that a card can copy from and to.
type Pinned interface {
	Bytes() []byte
	Free()
}

// Info is what a card is.
type Info struct {
	Index        int    // among those that the driver shows: 0 of cuda:0
	Name         string // "Tesla T4"
	Major, Minor int    // compute capability
	Total        int64  // bytes of memory
	Processors   int    // streaming multiprocessors
	Driver       int    // the newest CUDA version that the driver knows: 11080 is 11.8
	BLAS         string // the library and version of cuBLAS
	BLASVersion  string // "12.4.5"
	Workspace    int64  // bytes of memory that cuBLAS has for its own use; they count in Usage
	Graphs       bool   // lists are run as graphs; false as soon as the driver has refused to make one
}

// String is "Tesla T4, compute capability 7.5, 14.74 GiB".
func (i Info) String() string {
	return fmt.Sprintf("%s, compute capability %d.%d, %.2f GiB", i.Name, i.Major, i.Minor, float64(i.Total)/(1<<30))
}

// Counters count what was done on a card.
type Counters struct {
	Launches, Products, Clears int64 // queued one by one, or in graphs
	Graphs                     int64 // runs of a graph
	Uploaded, Downloaded       int64 // bytes
	Synchronizations           int64
	GraphBytes                 int64 // of the card's memory that graphs have now: about, as no call says
}

// Options are how a card is opened.
type Options struct {
	Index    int    // of the card among those that the driver shows
	Driver   string // the driver's library; "" looks for the system's
	BLAS     string // cuBLAS; "" looks for the newest
	NVML     string // the library that knows the processes on a card; "" looks for the system's
	NoGraphs bool   // queue launches one by one
	Sync     bool   // wait for each launch, so that an error names the kernel that made it; for finding faults, and slow
}

// Kinds of errors that a card can't be opened for; errors.Is tells them apart.
var (
	ErrNoSupport = errors.New("this build of konkanitrain has no CUDA support")
	ErrNoDriver  = errors.New("no CUDA driver")               // there is none to open, or it does not start
	ErrOldDriver = errors.New("the CUDA driver is too old")   // older than 11.8 needs
	ErrNoDevice  = errors.New("no such card")                 // none at all, or none with this number
	ErrOldCard   = errors.New("the card is too old")          // below compute capability 6.0
	ErrNoBLAS    = errors.New("no cuBLAS")                    // not found, or too old
	ErrCardInUse = errors.New("the card is in exclusive use") // of another process
	ErrLost      = errors.New("the card's context is lost")   // every call fails from now on
)

// Error is what a driver call or cuBLAS said.
type Error struct {
	Call   string // "cuLaunchKernel"
	Kernel string // whose launch it was, "" for none
	Code   int    // the driver's number, or cuBLAS's
	Text   string // the driver's name of it: "CUDA_ERROR_LAUNCH_FAILED"
	Hint   string // what to do about it
	Lost   bool   // every later call fails too: the context is gone. errors.Is(err, ErrLost)
}

// Error says all that is known.
func (e *Error) Error() string {
	s := e.Call
	if e.Kernel != "" {
		s += " of " + e.Kernel
	}
	s = fmt.Sprintf("%s: %s (error %d)", s, e.Text, e.Code)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Is lets errors.Is(err, ErrLost) find a lost context.
func (e *Error) Is(target error) bool { return target == ErrLost && e.Lost }
