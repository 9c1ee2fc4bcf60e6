package train

import (
	"runtime/debug"
	goruntime "runtime/metrics"
)

// heapHeadroom is how far Go's heap may grow beyond what is in use before it is collected, in percent of that. Go's own
// 100 would double what a run takes there. Little of it changes from update to update, so that collections stay few:
// one in some ten utterances, of a few milliseconds.
const heapHeadroom = 25

// leanHeap keeps Go's heap near what is in use until restore is called. Whoever has asked for less by GOGC gets less.
// There is no limit in bytes: near one, collections would take up to half of the time.
func leanHeap() (restore func()) {
	old := debug.SetGCPercent(heapHeadroom)
	if old >= 0 && old < heapHeadroom {
		debug.SetGCPercent(old)
	}
	return func() { debug.SetGCPercent(old) }
}

// goMemory is what the Go runtime holds of the system's memory, in bytes. Buffers of a device are not part of it.
type goMemory struct {
	Live     int64 // objects in use when the heap was last collected
	Headroom int64 // the rest of the heap: what was allocated since, garbage, and what waits to be given back
	Stacks   int64 // of goroutines and threads
	Overhead int64 // the runtime's own
}

// Total is the sum.
func (g goMemory) Total() int64 { return g.Live + g.Headroom + g.Stacks + g.Overhead }

// goMemoryNow asks the runtime.
func goMemoryNow() goMemory {
	samples := []goruntime.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/os-stacks:bytes"},
	}
	goruntime.Read(samples)
	v := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	heap, stacks := v(3)+v(4)+v(5), v(6)+v(7)
	live := min(v(2), heap) // some of it may have been swept since
	return goMemory{Live: live, Headroom: heap - live, Stacks: stacks, Overhead: v(0) - v(1) - heap - stacks}
}

// planned is what the runtime will hold at most when so many bytes more are in use, with the headroom of leanHeap. Go
// counts stacks as in use too.
func (g goMemory) planned(more int64) goMemory {
	g.Live += more
	g.Headroom = (g.Live + g.Stacks) * heapHeadroom / 100
	return g
}
