package device

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unsafe"
)

func TestHostCountsAndGivesBack(t *testing.T) {
	h := NewHost()
	a, err := h.Alloc(1000, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Alloc(24, "b")
	if err != nil {
		t.Fatal(err)
	}
	if m := a.Host(); len(m) != 1000 || m[999] != 0 || uintptr(unsafe.Pointer(&m[0]))%64 != 0 {
		t.Fatalf("1000 bytes are %d, want as many zeros, aligned to 64 bytes", len(m))
	}
	if u := h.Usage(); u != (Usage{Allocated: 1024, Reserved: 1024, Peak: 1024, PeakReserved: 1024, Buffers: 2}) {
		t.Fatalf("usage is %+v", u)
	}
	a.Free()
	a.Free()
	b.Free()
	if u := h.Usage(); u != (Usage{Peak: 1024, PeakReserved: 1024}) {
		t.Fatalf("usage after freeing all is %+v", u)
	}
	if a.Host() != nil {
		t.Error("a buffer that was given back still has memory")
	}
	if n, err := a.ReadAt(make([]byte, 1), 5); n != 0 || err == nil {
		t.Errorf("%d bytes of a buffer that was given back were read, %v", n, err)
	}
	none, err := h.Alloc(0, "none")
	if err != nil || len(none.Host()) != 0 || none.Size() != 0 {
		t.Fatalf("no bytes are an error: %v", err)
	}
	none.Free()
}

func TestHostBufferIsAStream(t *testing.T) {
	b, err := NewHost().Alloc(10, "b")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	if n, err := io.NewOffsetWriter(b, 3).Write([]byte("abc")); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	got, err := io.ReadAll(io.NewSectionReader(b, 2, 5))
	if err != nil || !bytes.Equal(got, []byte("\x00abc\x00")) {
		t.Fatalf("read back %q, %v", got, err)
	}
	p := make([]byte, 4)
	if n, err := b.ReadAt(p, 8); n != 2 || err != io.EOF {
		t.Errorf("reading 4 bytes, 2 of them past the end: %d, %v", n, err)
	}
	if n, err := b.WriteAt(p, 8); n != 2 || err != io.ErrShortWrite {
		t.Errorf("writing 4 bytes, 2 of them past the end: %d, %v", n, err)
	}
	for _, offset := range []int64{-1, 11} {
		if n, err := b.ReadAt(p, offset); n != 0 || err == nil {
			t.Errorf("reading at %d: %d, %v", offset, n, err)
		}
		if n, err := b.WriteAt(p, offset); n != 0 || err == nil {
			t.Errorf("writing at %d: %d, %v", offset, n, err)
		}
	}
	for _, part := range []struct {
		offset, size int64
		want         string
	}{{3, 4, "xxx\x00\x00\x00\x00xxx"}, {8, 9, "xxxxxxxx\x00\x00"}, {0, 1, "\x00xxxxxxxxx"}, {10, 1, "xxxxxxxxxx"}, {11, 1, "xxxxxxxxxx"},
		{5, 0, "xxxxxxxxxx"}, {5, -1, "xxxxxxxxxx"}, {-5, 1, "\x00xxxxxxxxx"}, {9, math.MaxInt64, "xxxxxxxxx\x00"}} {
		copy(b.Host(), "xxxxxxxxxx")
		if b.ZeroRange(part.offset, part.size); string(b.Host()) != part.want {
			t.Errorf("%d zeros at %d: %q, want %q", part.size, part.offset, b.Host(), part.want)
		}
	}
	b.Zero()
	if !bytes.Equal(b.Host(), make([]byte, 10)) {
		t.Errorf("after Zero it holds %q", b.Host())
	}
}

func TestHostOutOfMemory(t *testing.T) {
	_, err := NewHost().Alloc(math.MaxInt64/2, "arena of worker 0")
	var oom *OutOfMemory
	if !errors.As(err, &oom) || oom.What != "arena of worker 0" || oom.Size != math.MaxInt64/2 || oom.Err == nil {
		t.Fatalf("error is %v", err)
	}
	if want := "out of memory: no 4611686018427387903 bytes for arena of worker 0: 0 are in use, 0 cached; the system says: " + oom.Err.Error(); err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
	if !errors.Is(err, oom.Err) {
		t.Error("the system's error is lost")
	}
}

func TestNullKeepsNothingAndHasALimit(t *testing.T) {
	n := NewNull(1 << 40)
	b, err := n.Alloc(1<<40, "all of it")
	if err != nil || b.Host() != nil || b.Size() != 1<<40 {
		t.Fatal(b, err)
	}
	b.Zero()
	if k, err := b.WriteAt([]byte{1, 2}, 5); k != 2 || err != nil {
		t.Errorf("writing to nothing: %d, %v", k, err)
	}
	if _, err := b.ReadAt(make([]byte, 1), 0); err == nil {
		t.Error("something was read from nothing")
	}
	_, err = n.Alloc(1, "one more")
	if err == nil || !strings.Contains(err.Error(), "no 1 bytes for one more: 1099511627776 are in use, 0 cached, the limit is 1099511627776") {
		t.Fatalf("the limit was passed: %v", err)
	}
	b.Free()
	b.Free()
	if u := n.Usage(); u != (Usage{Limit: 1 << 40, Peak: 1 << 40, PeakReserved: 1 << 40}) {
		t.Errorf("usage after freeing all is %+v", u)
	}
	if _, err := n.Alloc(1, "one more"); err != nil {
		t.Fatal(err)
	}
}
