package device

import (
	"errors"
	"math"
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
	if f := a.Floats(); len(f) != 250 || f[249] != 0 || uintptr(unsafe.Pointer(&f[0]))%64 != 0 {
		t.Fatalf("1000 bytes are %d floats, want 250 zeros aligned to 64 bytes", len(f))
	}
	a.Floats()[249] = 1
	if u := h.Usage(); u != (Usage{Allocated: 1024, Peak: 1024, Buffers: 2}) {
		t.Fatalf("usage is %+v", u)
	}
	a.Free()
	a.Free()
	b.Free()
	if u := h.Usage(); u != (Usage{Peak: 1024}) {
		t.Fatalf("usage after freeing all is %+v", u)
	}
}

func TestHostOutOfMemory(t *testing.T) {
	_, err := NewHost().Alloc(math.MaxInt64/2, "arena of worker 0")
	var oom *OutOfMemory
	if !errors.As(err, &oom) || oom.What != "arena of worker 0" || oom.Size != math.MaxInt64/2 {
		t.Fatalf("error is %v", err)
	}
}

func TestNullKeepsNothingAndHasALimit(t *testing.T) {
	n := NewNull(1 << 40)
	b, err := n.Alloc(1<<40, "all of it")
	if err != nil || b.Floats() != nil || b.Size() != 1<<40 {
		t.Fatal(b, err)
	}
	if _, err := n.Alloc(1, "one more"); err == nil {
		t.Fatal("the limit was passed")
	}
	b.Free()
	if _, err := n.Alloc(1, "one more"); err != nil {
		t.Fatal(err)
	}
}
