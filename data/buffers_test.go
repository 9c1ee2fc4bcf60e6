package data

import (
	"context"
	"os"
	"slices"
	"testing"
)

// A steady loop uses the same buffers again and again.
func TestBuffersAreRecycled(t *testing.T) {
	s := spoken(t, 24)
	o := augmented(options8k(6))
	o.Ahead = 2
	l := newLoader(t, s, o)
	r, _ := l.Start(context.Background(), 0, 0)
	defer r.Close()
	seen := map[*float32]bool{}
	for range 160 {
		w, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Examples {
			seen[&e.Features[0]] = true
		}
		w.Release()
	}
	// In use at once: the window in hand, two ahead, and the one being handed out. All lengths are in one
	// step of sizes, so no buffer is ever given up for a longer one.
	l.buffers.mu.Lock() // the run is still preparing windows
	free := len(l.buffers.free)
	l.buffers.mu.Unlock()
	if len(seen) > 4*6 || free > len(seen) {
		t.Errorf("%d buffers were made and %d are kept, for windows of 6", len(seen), free)
	}
}

func TestBuffers(t *testing.T) {
	var b buffers
	long, short := b.get(6000, 80), b.get(300, 80)
	if cap(long) < 6000*80 || cap(short) < 300*80 || cap(short) > 384*80 {
		t.Fatalf("capacities %d and %d", cap(long), cap(short))
	}
	b.put(long)
	b.put(short)
	b.put(nil)
	if got := b.get(310, 80); cap(got) != cap(short) {
		t.Errorf("a short request got %d values of room", cap(got))
	}
	if got := b.get(310, 80); cap(got) != cap(long) {
		t.Errorf("the only buffer that is left was not used")
	}
	b.put(short)
	if got := b.get(1000, 80); cap(got) < 1000*80 || len(b.free) != 0 {
		t.Errorf("a buffer that is too short stays beside the new one: %d", len(b.free))
	}
}

func TestWaves(t *testing.T) {
	c := waves{limit: 40}
	a, b := &Utterance{Samples: 6}, &Utterance{Samples: 5}
	x := []float32{1, 2, 3, 4, 5, 6}
	c.put(a, x)
	x[0] = 9
	if got := c.get(a); len(got) != 6 || got[0] != 1 {
		t.Errorf("%v came back", got)
	}
	c.put(a, x) // is there
	c.put(b, x[:5])
	if c.get(b) != nil || c.used != 24 {
		t.Errorf("%d bytes are kept, and %v beyond the limit", c.used, c.get(b))
	}
	c.put(b, nil)
	c.put(b, x[:4])
	if got := c.get(b); len(got) != 4 || c.used != 40 {
		t.Errorf("%d bytes are kept, and %v up to the limit", c.used, got)
	}
	none := waves{}
	none.put(a, x)
	if none.get(a) != nil || none.waves != nil {
		t.Error("a cache of nothing keeps something")
	}
}

// What is in the cache is not read again.
func TestCacheSavesReading(t *testing.T) {
	s := spoken(t, 6)
	o := augmented(options8k(3))
	o.CacheWaves = 1 << 30
	l := newLoader(t, s, o)
	want := prints(t, l, 0, 0, 4)
	for _, u := range s.All() {
		os.Remove(u.Path())
	}
	if got := prints(t, l, 0, 0, 4); !slices.Equal(got, want) {
		t.Errorf("%v, and %v with the files", got, want)
	}
}
