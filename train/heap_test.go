package train

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// The heap's policy is there during a run and gone behind it, and leaves alone who wants less.
func TestLeanHeap(t *testing.T) {
	for _, c := range []struct{ old, during int }{{100, heapHeadroom}, {10, 10}, {-1, heapHeadroom}, {heapHeadroom, heapHeadroom}} {
		before := debug.SetGCPercent(c.old)
		restore := leanHeap()
		during := debug.SetGCPercent(0)
		debug.SetGCPercent(during)
		restore()
		if after := debug.SetGCPercent(before); during != c.during || after != c.old {
			t.Errorf("GOGC %d: %d during a run, want %d, and %d behind it", c.old, during, c.during, after)
		}
	}
}

// churn makes garbage of so many bytes in pieces, and returns how much the heap took at most.
func churn(size, piece int) int64 {
	most := int64(0)
	garbage := make([][]byte, 1)
	for i := range size / piece {
		garbage[0] = make([]byte, piece)
		if i%16 == 0 {
			time.Sleep(time.Millisecond) // a run leaves the collector as much time
		}
		g := goMemoryNow()
		most = max(most, g.Live+g.Headroom)
	}
	return most
}

// What is allocated shows as live, what is dropped shows no more, and headroom comes to what was planned for it.
func TestGoMemory(t *testing.T) {
	defer leanHeap()()
	now := func() goMemory {
		for range 3 { // what other tests have left in pools and behind cleanups outlives a collection or two
			runtime.GC()
		}
		return goMemoryNow()
	}
	const size, piece = 64 << 20, 64 << 10
	before := now()
	var kept [][]byte
	for range size / piece {
		kept = append(kept, make([]byte, piece))
	}
	held := now()
	if grown := held.Live - before.Live; math.Abs(float64(grown)/size-1) > 0.02 { // the list of pieces, and other tests' leftovers
		t.Errorf("%d bytes more are live, want %d", grown, size)
	}
	planned := before.planned(size)
	// Where other programs take the processor from the collector it is late, and the heap grows past its goal; never less.
	least := churn(2*size, piece)
	for range 4 {
		least = min(least, churn(2*size, piece))
	}
	if off := float64(planned.Live+planned.Headroom)/float64(least) - 1; math.Abs(off) > 0.1 { // spans that are partly free
		t.Errorf("the heap took up to %d bytes, planned were %d + %d", least, planned.Live, planned.Headroom)
	}
	runtime.KeepAlive(kept)
	kept = nil
	debug.FreeOSMemory()
	if after := goMemoryNow(); after.Total() > before.Total()+size/4 {
		t.Errorf("%d bytes are held after all was dropped, and were %d before", after.Total(), before.Total())
	}
	if before.Stacks <= 0 || before.Overhead <= 0 || before.Total() <= before.Live {
		t.Errorf("%+v", before)
	}
}
