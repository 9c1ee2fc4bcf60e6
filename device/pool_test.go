package device_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"konkanitrain/device"
	"konkanitrain/device/faulty"
)

// alloc is Alloc where it must not fail.
func alloc(t *testing.T, dev device.Device, size int64, what string) device.Buffer {
	t.Helper()
	b, err := dev.Alloc(size, what)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// address is where a buffer lies.
func address(b device.Buffer) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b.Host()))) }

// refused is the error for want of memory.
func refused(t *testing.T, err error) *device.OutOfMemory {
	t.Helper()
	var short *device.OutOfMemory
	if !errors.As(err, &short) {
		t.Fatalf("error is %v, want one of memory", err)
	}
	return short
}

// holds fails unless a pool, and the device below it, have so many bytes.
func holds(t *testing.T, what string, p *device.Pool, under device.Device, allocated, reserved int64) {
	t.Helper()
	u := p.Usage()
	if below := under.Usage().Reserved; u.Allocated != allocated || u.Reserved != reserved || below != reserved {
		t.Errorf("%s: %d allocated, %d reserved, %d below; want %d, %d", what, u.Allocated, u.Reserved, below, allocated, reserved)
	}
}

// Blocks are split and merged: three buffers in the memory of one, which is whole again after them.
func TestPoolSplitsAndMerges(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		host := device.NewHost()
		p := device.NewPool(host, 0)
		whole := alloc(t, p, 1024, "whole")
		at := address(whole)
		whole.Free()
		holds(t, "freed", p, host, 0, 1024)
		parts := []device.Buffer{alloc(t, p, 100, "a"), alloc(t, p, 256, "b"), alloc(t, p, 640, "c")}
		for i, offset := range []uintptr{0, 128, 384} {
			if got := address(parts[i]) - at; got != offset {
				t.Errorf("part %d is at %d, want %d", i, got, offset)
			}
		}
		holds(t, "split", p, host, 996, 1024)
		for _, i := range order {
			parts[i].Free()
		}
		if whole = alloc(t, p, 1024, "whole"); address(whole) != at {
			t.Errorf("freed in the order %v the parts are not merged", order)
		}
		holds(t, "merged", p, host, 1024, 1024)
		if whole.Free(); p.Trim() != 1024 || p.Trim() != 0 {
			t.Error("Trim did not give back what was idle, once")
		}
		holds(t, "trimmed", p, host, 0, 0)
	}
}

// The smallest block that is large enough, and of several the oldest.
func TestPoolTakesTheBestFit(t *testing.T) {
	host := device.NewHost()
	p := device.NewPool(host, 0)
	var blocks []device.Buffer
	var at []uintptr
	for _, size := range []int64{1024, 256, 512, 256} {
		b := alloc(t, p, size, "b")
		blocks, at = append(blocks, b), append(at, address(b))
	}
	for _, b := range slices.Backward(blocks) {
		b.Free()
	}
	for _, c := range []struct {
		size  int64
		where uintptr
	}{{200, at[1]}, {256, at[3]}, {256, at[2]}, {256, at[2] + 256}, {1024, at[0]}} {
		if got := address(alloc(t, p, c.size, "b")); got != c.where {
			t.Errorf("%d bytes are at %#x, want %#x of %#x", c.size, got, c.where, at)
		}
	}
	holds(t, "all in use", p, host, 1992, 2048)
	alloc(t, p, 65, "b")
	holds(t, "one more", p, host, 2057, 2048+128)
}

// A limit is kept by giving back the smallest segment that is enough.
func TestPoolMakesRoomUnderItsLimit(t *testing.T) {
	host := device.NewHost()
	p := device.NewPool(host, 2048)
	var blocks []device.Buffer
	for _, size := range []int64{64, 512, 256, 1024} {
		blocks = append(blocks, alloc(t, p, size, "b"))
	}
	for _, b := range blocks[:3] {
		b.Free()
	}
	large := alloc(t, p, 640, "large") // 192 are free: the 448 more that it takes are in the second segment alone
	holds(t, "with the second segment given back", p, host, 1024+640, 64+256+1024+640)
	_, err := p.Alloc(385, "more") // it would fit 384
	want := device.OutOfMemory{What: "more", Size: 385, Allocated: 1664, Reserved: 1664, Limit: 2048}
	if got := refused(t, err); *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
	alloc(t, p, 384, "the rest")
	if u := p.Usage(); u.Reserved != 2048 || u.PeakReserved != 2048 || p.Over() != 0 {
		t.Errorf("full to the limit: %+v, %d over it", u, p.Over())
	}
	large.Free()
	holds(t, "full to the limit, and idle in part", p, host, 1408, 2048)
	for _, size := range []int64{math.MaxInt64, math.MaxInt64 - 64, math.MaxInt64 / 2} {
		_, err := p.Alloc(size, "all")
		refused(t, err)
	}
	if _, err := p.Alloc(-1, "less"); err == nil || !strings.Contains(err.Error(), "a buffer of -1 bytes for less: want 0 or more") {
		t.Errorf("error is %v", err)
	}
}

// The smallest segment that is enough goes, and while none is, the largest.
func TestPoolGivesBackWhatIsNeeded(t *testing.T) {
	for limit, left := range map[int64]int64{
		896: 896, 895: 768, 768: 768, 767: 640, 640: 640, 639: 384, 300: 256, 255: 128, 127: 0,
	} {
		host := device.NewHost()
		p := device.NewPool(host, 0)
		blocks := []device.Buffer{alloc(t, p, 128, "a"), alloc(t, p, 512, "b"), alloc(t, p, 256, "c")}
		for _, b := range blocks {
			b.Free()
		}
		p.SetLimit(limit)
		holds(t, fmt.Sprint("with a limit of ", limit), p, host, 0, left)
	}
}

// Of segments of one size the oldest goes, be it enough or not.
func TestPoolGivesBackTheOldest(t *testing.T) {
	for _, limit := range []int64{1024, 512} {
		p := device.NewPool(device.NewHost(), 0)
		blocks := []device.Buffer{alloc(t, p, 512, "a"), alloc(t, p, 512, "b"), alloc(t, p, 512, "c")}
		youngest := address(blocks[2])
		for _, b := range blocks {
			b.Free()
		}
		p.SetLimit(limit)
		for p.Usage().Cached() > 512 {
			alloc(t, p, 512, "b")
		}
		if p.Usage().Reserved != limit || address(alloc(t, p, 512, "c")) != youngest {
			t.Errorf("with a limit of %d the youngest segment has gone, %+v is left", limit, p.Usage())
		}
	}
}

// A limit that falls takes idle memory at once; what lives stays, and nothing comes until there is room.
func TestPoolLimitFalls(t *testing.T) {
	host := device.NewHost()
	p := device.NewPool(host, 0)
	whole := alloc(t, p, 1024, "whole")
	whole.Free()
	part, other := alloc(t, p, 512, "part"), alloc(t, p, 512, "part")
	other.Free()
	alloc(t, p, 256, "other").Free()
	p.SetLimit(1000)
	if p.Over() != 24 {
		t.Errorf("%d bytes are above the limit, want 24", p.Over())
	}
	if _, err := p.Alloc(64, "b"); refused(t, err).Limit != 1000 {
		t.Error(err)
	}
	holds(t, "above the limit", p, host, 512, 1024)
	alloc(t, p, 0, "nothing").Free()
	part.Free()
	holds(t, "after the last buffer", p, host, 0, 0)
	alloc(t, p, 960, "whole").Free()
	p.SetLimit(-5)
	if _, err := p.Alloc(1, "b"); refused(t, err).Reserved != 0 || p.Usage().Limit != 1 {
		t.Error(err, p.Usage())
	}
	p.SetLimit(0)
	alloc(t, p, 1<<20, "b").Free()
}

func TestPoolCountsWhatOthersHold(t *testing.T) {
	host := device.NewHost()
	p := device.NewPool(host, 2000)
	alloc(t, p, 500, "weights")
	alloc(t, p, 1000, "arena").Free()
	if err := p.Hold("sound", 400); err != nil {
		t.Fatal(err)
	}
	holds(t, "with room for sound", p, host, 500, 1536)
	if err := p.Hold("sound", 600); err != nil {
		t.Fatal(err)
	}
	holds(t, "without the arena", p, host, 500, 512)
	if err := p.Hold("tables", 500); err != nil {
		t.Fatal(err)
	}
	_, err := p.Alloc(640, "arena")
	if want := "out of memory: no 640 bytes for arena: 500 are in use, 12 cached, 1100 held by the rest of the process, the limit is 2000"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	want := device.OutOfMemory{What: "sound", Size: 1600, Allocated: 500, Reserved: 512, Held: 500, Limit: 2000}
	if got := refused(t, p.Hold("sound", 1600)); *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
	if p.Over() != 612 || p.Usage().Held != 2100 || p.Usage().PeakReserved != 2612 {
		t.Errorf("a figure that doesn't fit is not taken over: %+v, %d above the limit", p.Usage(), p.Over())
	}
	alloc(t, p, 0, "nothing") // holds nothing
	_, err = p.Alloc(1, "weights")
	refused(t, err)
	if err := p.Hold("sound", 1550); err != nil { // less, though still too much
		t.Error(err)
	}
	if err := p.Hold("sound", -1); err == nil || p.Usage().Held != 2050 {
		t.Errorf("%v, %+v", err, p.Usage())
	}
	if err := p.Hold("sound", 500); err != nil {
		t.Error(err)
	}
	alloc(t, p, 30, "weights")
	if got, want := p.Holders(), []device.Holder{{"weights", 530}, {"sound", 500}, {"tables", 500}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, name := range []string{"sound", "tables"} {
		if err := p.Hold(name, 0); err != nil {
			t.Error(err)
		}
	}
	if got, want := p.Holders(), []device.Holder{{"weights", 530}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	p.ResetPeaks()
	if got, want := p.Usage(), (device.Usage{Allocated: 530, Reserved: 576, Limit: 2000, Peak: 530, PeakReserved: 576, Buffers: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Where the device below refuses, idle segments are given back, and it is asked once more.
func TestPoolOverAFullDevice(t *testing.T) {
	under := faulty.New(device.NewNull(1000), nil)
	p := device.NewPool(under, 0)
	a, b := alloc(t, p, 320, "a"), alloc(t, p, 320, "b")
	a.Free()
	alloc(t, p, 640, "c").Free()
	if n := under.Calls(); n != 4 {
		t.Errorf("the device below was asked %d times, want 4", n)
	}
	_, err := p.Alloc(704, "d")
	if want := "out of memory: no 704 bytes for d: 320 are in use, 0 cached, the limit is 1000"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if n := under.Calls(); n != 6 {
		t.Errorf("the device below was asked %d times, want 6", n)
	}
	under.Arm(faulty.Nth(1))
	if _, err = p.Alloc(64, "e"); refused(t, err).Err != faulty.Err || under.Calls() != 1 {
		t.Errorf("with nothing to give back it asked %d times: %v", under.Calls(), err)
	}
	b.Free()
	holds(t, "at the end", p, under, 0, 320)
}

// broken is a device that has a trouble other than memory.
type broken struct{ device.Device }

var errBroken = errors.New("the card has fallen off the bus")

func (broken) Alloc(int64, string) (device.Buffer, error) { return nil, errBroken }

func TestPoolHandsOtherErrorsOn(t *testing.T) {
	p := device.NewPool(broken{device.NewHost()}, 0)
	if _, err := p.Alloc(1, "b"); err != errBroken {
		t.Errorf("error is %v, want %v", err, errBroken)
	}
	if u := p.Usage(); u != (device.Usage{}) || p.Name() != "cpu" {
		t.Errorf("%s: %+v", p.Name(), u)
	}
}
