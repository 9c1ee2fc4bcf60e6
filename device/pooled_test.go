package device_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"sync"
	"testing"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// A buffer is its own part of the segment, and nothing beyond, before and after it.
func TestPooledBufferIsAView(t *testing.T) {
	p := device.NewPool(device.NewHost(), 0)
	alloc(t, p, 192, "whole").Free()
	left, b, right := alloc(t, p, 64, "left"), alloc(t, p, 10, "b"), alloc(t, p, 64, "right")
	if address(b) != address(left)+64 || address(right) != address(b)+64 || cap(b.Host()) != 10 {
		t.Fatal("not side by side")
	}
	if n, err := b.WriteAt(bytes.Repeat([]byte{7}, 20), 4); n != 6 || err != io.ErrShortWrite {
		t.Errorf("writing 20 bytes, 14 of them past the end: %d, %v", n, err)
	}
	got := make([]byte, 20)
	if n, err := b.ReadAt(got, 2); n != 8 || err != io.EOF || string(got[:8]) != "\x00\x00\x07\x07\x07\x07\x07\x07" {
		t.Errorf("reading 20 bytes, 12 of them past the end: %d, %v, %q", n, err, got)
	}
	if n, err := b.ReadAt(got[:8], 2); n != 8 || err != nil {
		t.Errorf("reading to the end: %d, %v", n, err)
	}
	for _, offset := range []int64{-1, 11, math.MaxInt64} {
		if n, err := b.ReadAt(got, offset); n != 0 || err == nil {
			t.Errorf("reading at %d: %d, %v", offset, n, err)
		}
		if n, err := b.WriteAt(got, offset); n != 0 || err == nil {
			t.Errorf("writing at %d: %d, %v", offset, n, err)
		}
	}
	copy(left.Host(), bytes.Repeat([]byte{1}, 64))
	copy(right.Host(), bytes.Repeat([]byte{2}, 64))
	copy(b.Host(), "0123456789")
	if b.ZeroRange(3, 4); string(b.Host()) != "012\x00\x00\x00\x00789" {
		t.Errorf("4 zeros at 3: %q", b.Host())
	}
	b.ZeroRange(-3, 100)
	b.ZeroRange(5, math.MaxInt64)
	b.Zero()
	if !bytes.Equal(b.Host(), make([]byte, 10)) || bytes.Contains(left.Host(), []byte{0}) || bytes.Contains(right.Host(), []byte{0}) {
		t.Error("Zero did not clear the buffer alone")
	}
	b.Free()
	b.Free()
	b.Zero()
	again := alloc(t, p, 10, "again")
	if n, err := b.WriteAt([]byte{1}, 0); n != 0 || err == nil || b.Host() != nil || again.Host()[0] != 0 {
		t.Errorf("a buffer that was given back is written to: %d, %v", n, err)
	}
	if n, err := b.ReadAt(got, 0); n != 0 || err == nil {
		t.Errorf("a buffer that was given back is read: %d, %v", n, err)
	}
	if u := p.Usage(); u.Buffers != 3 || u.Allocated != 138 {
		t.Errorf("usage is %+v", u)
	}
	none := alloc(t, p, 0, "none")
	if n, err := none.WriteAt([]byte{1}, 0); n != 0 || err != io.ErrShortWrite || len(none.Host()) != 0 || none.Size() != 0 {
		t.Errorf("writing to a buffer of no bytes: %d, %v", n, err)
	}
	if n, err := none.ReadAt(nil, 0); n != 0 || err != nil {
		t.Errorf("reading nothing of a buffer of no bytes: %d, %v", n, err)
	}
	none.Free()
	none.Free()
	if u := p.Usage(); u.Buffers != 3 {
		t.Errorf("usage is %+v", u)
	}
}

// A plan is carried out without memory, in a pool as without one.
func TestPoolOverNothing(t *testing.T) {
	null := device.NewNull(0)
	p := device.NewPool(null, 1<<50)
	a := alloc(t, p, 1<<49, "a")
	a.Free()
	a, b := alloc(t, p, 1<<48, "a"), alloc(t, p, 1<<48, "b")
	holds(t, "two halves", p, null, 1<<49, 1<<49)
	if n, err := b.WriteAt([]byte{1, 2}, 1<<48-1); n != 1 || err != io.ErrShortWrite || b.Host() != nil {
		t.Errorf("writing to nothing: %d, %v", n, err)
	}
	if _, err := b.ReadAt(make([]byte, 1), 0); err == nil {
		t.Error("something was read from nothing")
	}
	if _, err := p.Alloc(1<<49+1, "c"); refused(t, err).Limit != 1<<50 {
		t.Error(err)
	}
	a.Free()
	b.Free()
	if p.Trim() != 1<<49 || null.Usage().Reserved != 0 {
		t.Errorf("%+v is left", null.Usage())
	}
	p.SetLimit(0)
	if _, err := p.Alloc(math.MaxInt64-63, "d"); refused(t, err).Size != math.MaxInt64-63 { // it can't be rounded up
		t.Error(err)
	}
	alloc(t, p, math.MaxInt64-64, "d").Free()
}

// Memory that was used comes back as zeros, of the whole buffer.
func TestPoolClearsWhatWasUsed(t *testing.T) {
	p := device.NewPool(device.NewHost(), 0)
	for _, size := range []int64{1000, 1000, 100, 1, 1000} {
		b := alloc(t, p, size, "b")
		if !bytes.Equal(b.Host(), make([]byte, size)) {
			t.Errorf("%d bytes are not zeros", size)
		}
		for i := range b.Host() {
			b.Host()[i] = 0xff
		}
		b.Free()
	}
	if u := p.Usage(); u.Reserved != 1024 {
		t.Errorf("%d bytes are reserved, want those of the first buffer", u.Reserved)
	}
}

// Who frees and allocates the same size again makes one Go object, the buffer.
func TestPoolReusesWithoutGarbage(t *testing.T) {
	p := device.NewPool(device.NewHost(), 1<<20)
	sizes := []int64{1 << 10, 3 << 10, 5 << 10}
	var live [3]device.Buffer
	n := testing.AllocsPerRun(100, func() {
		for i, size := range sizes {
			b, err := p.Alloc(size, "arena")
			if err != nil {
				t.Fatal(err)
			}
			live[i] = b
		}
		for _, b := range live {
			b.Free()
		}
	})
	if n != 3 {
		t.Errorf("3 buffers take %g allocations", n)
	}
}

// Several goroutines allocate, while others turn the limit: nobody gets what another has, and nothing is lost.
func TestPoolForManyAtOnce(t *testing.T) {
	host := device.NewHost()
	p := device.NewPool(host, 0)
	var work, turn sync.WaitGroup
	done := make(chan struct{})
	for w := range 4 {
		work.Go(func() {
			random := testkit.Rand(uint64(w))
			var live []device.Buffer
			for i := range 600 {
				if len(live) == 6 || len(live) > 0 && i%3 == 0 {
					b := live[0]
					if !bytes.Equal(b.Host(), bytes.Repeat([]byte{byte(w + 1)}, int(b.Size()))) {
						t.Errorf("a buffer of worker %d was written to by another", w)
					}
					b.Free()
					live = live[1:]
				}
				b, err := p.Alloc(random.Int64N(3000), fmt.Sprint("worker ", w))
				if err != nil {
					refused(t, err)
					continue
				}
				if !bytes.Equal(b.Host(), make([]byte, b.Size())) {
					t.Error("not zeros")
				}
				copy(b.Host(), bytes.Repeat([]byte{byte(w + 1)}, int(b.Size())))
				live = append(live, b)
			}
			for _, b := range live {
				var both sync.WaitGroup
				both.Go(b.Free)
				both.Go(b.Free)
				both.Wait()
			}
		})
	}
	turn.Go(func() {
		random := testkit.Rand(99)
		for {
			select {
			case <-done:
				return
			default:
			}
			p.SetLimit(random.Int64N(30_000) + 10_000)
			_ = p.Hold("other", random.Int64N(8000)) // it may not fit: it counts all the same
			p.Trim()
			p.ResetPeaks()
			if u := p.Usage(); u.Allocated > u.Reserved || u.Peak < u.Allocated || p.Over() < 0 {
				t.Errorf("%+v", u)
			}
			p.Holders()
		}
	})
	work.Wait()
	close(done)
	turn.Wait()
	p.Trim()
	if u := p.Usage(); u.Allocated != 0 || u.Reserved != 0 || u.Buffers != 0 || host.Usage().Buffers != 0 {
		t.Errorf("%+v is left, %+v below", u, host.Usage())
	}
}
