//go:build gpu

package cuda_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
)

// Fresh memory is zeros, and a buffer's parts are read and written as an array's in the host's memory are.
func TestBufferSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{}, "lazy=1")
	const size = 9<<20 + 5 // three pieces of the staging memory
	b, err := r.Alloc(size, "a test")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	want := make([]byte, size)
	check := func(what string) {
		t.Helper()
		got := bytes.Repeat([]byte{7}, size)
		if n, err := b.ReadAt(got, 0); n != size || err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: read %d bytes, %v; equal: %v", what, n, err, bytes.Equal(got, want))
		}
	}
	check("fresh memory")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		offset := rng.Int64N(size)
		part := make([]byte, rng.Int64N(size-offset))
		for i := range part {
			part[i] = byte(rng.Uint32())
		}
		if n, err := b.WriteAt(part, offset); n != len(part) || err != nil {
			t.Fatalf("wrote %d of %d bytes: %v", n, len(part), err)
		}
		copy(want[offset:], part)
		check("a part written")
		offset = rng.Int64N(size)
		b.ZeroRange(offset, size/3)
		clear(want[offset:min(offset+size/3, size)])
		check("a part cleared")
	}
	b.ZeroRange(-5, 20)
	clear(want[:20])
	check("cleared from before the start")
	b.Zero()
	clear(want)
	check("cleared")

	p := make([]byte, 10)
	if n, err := b.ReadAt(p, size-4); n != 4 || err != io.EOF {
		t.Errorf("reading past the end: %d, %v", n, err)
	}
	if n, err := b.WriteAt(p, size-4); n != 4 || err != io.ErrShortWrite {
		t.Errorf("writing past the end: %d, %v", n, err)
	}
	if n, err := b.ReadAt(p, size+1); n != 0 || err != io.EOF {
		t.Errorf("reading behind the end: %d, %v", n, err)
	}
	if n, err := b.WriteAt(p, -1); n != 0 || err != io.ErrShortWrite {
		t.Errorf("writing before the start: %d, %v", n, err)
	}
	if b.Host() != nil || b.Size() != size || cuda.AddressOf(b)%256 != 0 || cuda.AddressOf(b) == 0 {
		t.Errorf("host %v, size %d, address %d", b.Host() != nil, b.Size(), cuda.AddressOf(b))
	}
}

func TestUsageSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	own := r.Usage() // cuBLAS's workspace
	if own.Allocated != r.Info().Workspace || own.Allocated != 4<<20 {
		t.Errorf("%d bytes are in use after opening, the workspace has %d", own.Allocated, r.Info().Workspace)
	}
	free, total, err := r.Memory()
	if err != nil || total != r.Info().Total || free <= 0 || free >= total {
		t.Errorf("%d of %d bytes are free, %v", free, total, err)
	}
	empty, err := r.Alloc(0, "nothing")
	if err != nil || cuda.AddressOf(empty) != 0 {
		t.Fatal(err)
	}
	if n, err := empty.WriteAt([]byte{1}, 0); n != 0 || err != io.ErrShortWrite {
		t.Errorf("writing to nothing: %d, %v", n, err)
	}
	b := r.alloc(1, 2, 3)
	if u := r.Usage(); u.Allocated != own.Allocated+12 || u.Reserved != u.Allocated || u.Buffers != own.Buffers+2 {
		t.Errorf("usage %+v", u)
	}
	b.Free()
	b.Free()
	empty.Free()
	if u := r.Usage(); u.Allocated != own.Allocated || u.Peak != own.Allocated+12 || u.Buffers != own.Buffers {
		t.Errorf("usage after freeing %+v", u)
	}
	if _, err := r.Alloc(-1, "nonsense"); err == nil {
		t.Error("-1 bytes are allocated")
	}
}

// A pool over a card hands out parts of the card's memory, cleared, with addresses of their own.
func TestPoolSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{})
	pool := device.NewPool(r.Card, 0)
	defer pool.Trim()
	first, err := pool.Alloc(256, "first")
	if err != nil {
		t.Fatal(err)
	}
	start := cuda.AddressOf(first)
	first.WriteAt(bytesOf(ramp(64)), 0)
	first.Free()
	a, errA := pool.Alloc(64, "a")
	b, errB := pool.Alloc(192, "b")
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	defer a.Free()
	defer b.Free()
	if cuda.AddressOf(a) != start || cuda.AddressOf(b) != start+64 {
		t.Errorf("addresses %d and %d, the segment begins at %d", cuda.AddressOf(a), cuda.AddressOf(b), start)
	}
	equal(t, "reused memory", r.floats(b), make([]float32, 48))
}

// Memory runs out with an error that knows the figures, at any place, and all of it is there again afterwards.
func TestOutOfMemorySimulated(t *testing.T) {
	r := openRig(t, cuda.Options{}, "memory=256M", "context=64M")
	before, _, err := r.Memory()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var live []device.Buffer
	refused := 0
	for range 400 {
		if len(live) > 0 && rng.IntN(3) == 0 {
			i := rng.IntN(len(live))
			live[i].Free()
			live = slices.Delete(live, i, i+1)
			continue
		}
		size, used := 1+rng.Int64N(24<<20), r.Usage()
		b, err := r.Alloc(size, "stress")
		if err == nil {
			live = append(live, b)
			continue
		}
		refused++
		var short *device.OutOfMemory
		if !errors.As(err, &short) || short.Size != size || short.What != "stress" || short.Allocated != used.Allocated {
			t.Fatalf("error %v of a request of %d bytes beside %d", err, size, used.Allocated)
		}
		for _, part := range []string{"CUDA_ERROR_OUT_OF_MEMORY", "268435456 bytes", "are free"} {
			if !strings.Contains(err.Error(), part) {
				t.Fatalf("%q says nothing of %q", err, part)
			}
		}
		if r.Usage() != used {
			t.Fatal("a request that was refused counts")
		}
	}
	if refused == 0 {
		t.Error("memory never ran out")
	}
	for _, b := range live {
		b.Free()
	}
	if after, _, err := r.Memory(); after != before || err != nil {
		t.Errorf("%d bytes are free at the end, %d at the start, %v", after, before, err)
	}
}
