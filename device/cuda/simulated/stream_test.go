//go:build gpu

package simulated

import (
	"strings"
	"testing"
)

const (
	nonBlocking     = 1 // of a stream
	notReady        = 600
	notSupported    = 801
	captureRefused  = 900
	captureUnjoined = 904
)

func (c *card) stream() uint64 { return c.make("cuStreamCreate", nonBlocking) }
func (c *card) event() uint64  { return c.make("cuEventCreate", 0) }

// pinned is pinned memory as floats.
func (c *card) pinned(n int) (uint64, []float32) {
	p := c.make("cuMemHostAlloc", uint64(4*n), 0)
	return p, floats(p, n)
}

// Lazy, nothing is done before something waits; what is queued in one stream keeps its order.
func TestSimulatedLazy(t *testing.T) {
	c := openCard(t, "lazy=1")
	const n = 64
	s, d := c.stream(), c.make("cuMemAlloc_v2", 4*n)
	p, host := c.pinned(n)
	copy(host, ramp(n))
	back, got := c.pinned(n)
	c.must("cuMemcpyHtoDAsync_v2", d, p, 4*n, s)
	c.must("cuMemcpyDtoHAsync_v2", back, d, 4*n, s)
	if nans(got) != n {
		t.Errorf("a copy that is queued has arrived, or left what was there: %v", got[:4])
	}
	if r := c.do("cuStreamQuery", s); r != notReady {
		t.Errorf("asked, the stream says %d", r)
	}
	c.must("cuStreamSynchronize", s)
	equal(t, got, ramp(n))
	c.must("cuMemFreeHost", p)
	c.must("cuMemFreeHost", back)
}

// A pinned buffer that changes before its copy is done is told, and the copy fails.
func TestSimulatedPinnedReuse(t *testing.T) {
	c := openCard(t, "lazy=1")
	const n = 64
	s, d := c.stream(), c.make("cuMemAlloc_v2", 4*n)
	p, host := c.pinned(n)
	copy(host, ramp(n))
	c.must("cuMemcpyHtoDAsync_v2", d, p, 4*n, s)
	host[5] = 7
	if r := c.do("cuStreamSynchronize", s); r != launchFailed {
		t.Errorf("error %d", r)
	}
	if found := strings.Join(c.Findings(), "\n"); !strings.Contains(found, "a copy of 256 bytes of pinned memory to byte 0 of allocation") {
		t.Errorf("found %q", found)
	}
}

// Without an event between two streams some seed shows that their order is chance; with one no seed does.
func TestSimulatedStreams(t *testing.T) {
	for _, waits := range []bool{true, false} {
		wrong := 0
		for _, seed := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			c := openCard(t, "lazy=1", "seed="+seed)
			const n = 64
			f := c.function("right")
			from, to, e := c.stream(), c.stream(), c.event()
			x, y := c.make("cuMemAlloc_v2", 4*n), c.make("cuMemAlloc_v2", 4*n)
			p, host := c.pinned(n)
			copy(host, ramp(n))
			c.must("cuMemcpyHtoDAsync_v2", x, p, 4*n, from)
			c.must("cuEventRecord", e, from)
			if waits {
				c.must("cuStreamWaitEvent", to, e, 0)
			}
			if r := c.launch(f, x, y, n, 64*4, to); r != 0 {
				t.Fatal(r)
			}
			c.must("cuCtxSynchronize")
			wrong += min(nans(c.download(y, n)), 1)
			c.must("cuCtxDestroy_v2", c.context)
		}
		if waits != (wrong == 0) {
			t.Errorf("with an event %v: wrong for %d of 8 seeds", waits, wrong)
		}
	}
}

// A graph does again what was captured: copies of what is there then, fills, kernels.
func TestSimulatedGraph(t *testing.T) {
	for _, mode := range modes {
		c := openCard(t, strings.Fields(mode)...)
		const n = 64
		f, s := c.function("right"), c.stream()
		x, y := c.make("cuMemAlloc_v2", 4*n), c.upload(make([]float32, n))
		p, host := c.pinned(n)
		copy(host, ramp(n))
		c.must("cuStreamBeginCapture_v2", s, 2)
		c.must("cuMemsetD8Async", y, 1, 4*n, s)
		c.must("cuMemcpyHtoDAsync_v2", x, p, 4*n, s)
		if r := c.launch(f, x, y, n, 64*4, s); r != 0 {
			t.Fatal(r)
		}
		graph := new(uint64)
		c.must("cuStreamEndCapture", s, address(graph))
		equal(t, c.download(y, n), make([]float32, n)) // nothing has run
		exec := c.make("cuGraphInstantiate", *graph, 0, 0, 0)
		c.must("cuGraphDestroy", *graph)
		for range 3 {
			c.must("cuMemsetD8_v2", y, 0, 4*n)
			c.must("cuGraphLaunch", exec, s)
			c.must("cuStreamSynchronize", s)
			equal(t, c.download(y, n), warpSums(n))
		}
		c.must("cuGraphExecDestroy", exec)
		if live := c.Count("live graphs"); live != 0 {
			t.Errorf("%d graphs are left", live)
		}
		c.must("cuMemFreeHost", p)
		c.must("cuCtxDestroy_v2", c.context)
	}
}

// What a capture doesn't allow ends it; a stream that joined it must be joined back.
func TestSimulatedCaptureErrors(t *testing.T) {
	c := openCard(t)
	s, other, e := c.stream(), c.stream(), c.event()
	d := c.make("cuMemAlloc_v2", 64)
	c.must("cuStreamBeginCapture_v2", s, 2)
	if r := c.do("cuStreamSynchronize", s); r != captureRefused {
		t.Errorf("waiting for a stream under capture: %d", r)
	}
	graph := new(uint64)
	if r := c.do("cuStreamEndCapture", s, address(graph)); r != 901 {
		t.Errorf("the capture ends with %d", r)
	}
	for _, joined := range []bool{false, true} {
		c.must("cuStreamBeginCapture_v2", s, 2)
		c.must("cuEventRecord", e, s)
		c.must("cuStreamWaitEvent", other, e, 0)
		c.must("cuMemsetD8Async", d, 1, 64, other)
		if joined {
			c.must("cuEventRecord", e, other)
			c.must("cuStreamWaitEvent", s, e, 0)
		}
		want := captureUnjoined
		if joined {
			want = 0
		}
		if r := c.do("cuStreamEndCapture", s, address(graph)); r != want {
			t.Errorf("joined %v: the capture ends with %d", joined, r)
		}
	}
	c.must("cuGraphDestroy", *graph)
	if err := c.Set("capture", "0"); err != nil {
		t.Fatal(err)
	}
	if r := c.do("cuStreamBeginCapture_v2", s, 2); r != notSupported {
		t.Errorf("a driver without captures: %d", r)
	}
}
