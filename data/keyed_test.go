package data

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"konkanitrain/internal/philox"
)

// A keyed file has what a map has, also of many lines and of long ones, in the order of the file.
func TestKeyed(t *testing.T) {
	f := new(keyed)
	want := map[string]string{}
	var order []string
	for i := range 5000 {
		key, value := fmt.Sprintf("u%d", philox.Key(uint64(i), 7)%4000), strings.Repeat("x", i%90)
		if i == 1234 {
			value = strings.Repeat("long", 1<<chunkBits)
		}
		_, twice := want[key]
		if before := f.add(key, value, i+1); twice != (before > 0) {
			t.Fatalf("line %d: %s was on %d", i, key, before)
		}
		if !twice {
			want[key] = value
			order = append(order, key)
		}
	}
	for key, value := range want {
		if got, ok := f.value(key); !ok || got != value {
			t.Fatalf("%s: %d bytes, %v; want %d", key, len(got), ok, len(value))
		}
	}
	if _, ok := f.value("none"); ok {
		t.Error("there is a key none")
	}
	if _, ok := new(keyed).value("none"); ok {
		t.Error("there is a key in nothing")
	}
	i := 0
	for key := range f.keys() {
		if key != order[i] {
			t.Fatalf("key %d is %s, want %s", i, key, order[i])
		}
		i++
	}
	if i != len(order) || i != f.count {
		t.Errorf("%d keys of %d, and %d counted", i, len(order), f.count)
	}
}

// Many short lines take little beside their bytes: places of 8 bytes, in slots of which a third at least is in use.
func TestKeyedIsLean(t *testing.T) {
	const lines, most = 100_000, 60 // bytes of a line, whose own are 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := new(keyed)
	for i := range lines {
		f.add(fmt.Sprintf("u%06d", i), "r0001 12.34 5", i+1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc-before.HeapAlloc) / lines; got > most {
		t.Errorf("%d bytes a line, at most %d are expected", got, most)
	}
	runtime.KeepAlive(f)
}
