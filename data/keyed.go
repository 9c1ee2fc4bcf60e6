package data

import (
	"encoding/binary"
	"fmt"
	"iter"

	"konkanitrain/internal/philox"
)

// keyed is a file with a key and a value a line, by key. A million short lines take some 45 MB: they are packed one
// behind the other, and their places are found by a hash of the key.
type keyed struct {
	path  string
	note  string // what was odd about its encoding; "" if nothing was
	lines arena
	count int
	slots []uint64 // open addressing; 0 is free, else one more than the place of a line
}

// readKeyed reads a file. A key that stands twice is an error.
func readKeyed(path string) (*keyed, error) {
	t, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	f := &keyed{path: path, note: t.note}
	for last := 0; ; {
		n, line, err := t.line()
		if err != nil || n == 0 {
			return f, err
		}
		number := last + n
		last = number
		if bad := notText(line); bad != "" {
			return nil, fmt.Errorf("manifest %s, line %d: %s", path, number, bad)
		}
		key, value := cutField(line)
		if before := f.add(key, value, number); before > 0 {
			return nil, fmt.Errorf("manifest %s: %s stands on lines %d and %d; ids must be unique, remove or rename one",
				path, key, before, number)
		}
	}
}

// add takes in a line, unless its key is there: before is the number of the line that has it then, else 0.
func (f *keyed) add(key, value string, number int) (before int) {
	if 3*f.count >= 2*len(f.slots) {
		f.grow()
	}
	slot, found := f.find(key)
	if found {
		before, _, _, _ = unpackKeyed(f.lines.at(f.slots[slot] - 1))
		return before
	}
	var room [64]byte
	b := binary.AppendUvarint(room[:0], uint64(number))
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
	f.slots[slot] = f.lines.add(b) + 1
	f.count++
	return 0
}

// unpackKeyed is the line at the start of b and what stands behind it.
func unpackKeyed(b []byte) (number int, key, value, rest []byte) {
	v, n := binary.Uvarint(b)
	b = b[n:]
	piece := func() []byte {
		size, n := binary.Uvarint(b)
		p := b[n:][:size]
		b = b[n+int(size):]
		return p
	}
	key = piece()
	value = piece()
	return int(v), key, value, b
}

// find is the slot of a key, or the one where it would be.
func (f *keyed) find(key string) (slot int, found bool) {
	if len(f.slots) == 0 {
		return 0, false
	}
	mask := len(f.slots) - 1
	for slot = int(philox.ID(key)) & mask; f.slots[slot] != 0; slot = (slot + 1) & mask {
		if _, k, _, _ := unpackKeyed(f.lines.at(f.slots[slot] - 1)); string(k) == key {
			return slot, true
		}
	}
	return slot, false
}

// grow doubles the slots.
func (f *keyed) grow() {
	old := f.slots
	f.slots = make([]uint64, max(8, 2*len(old)))
	for _, place := range old {
		if place == 0 {
			continue
		}
		_, key, _, _ := unpackKeyed(f.lines.at(place - 1))
		slot, _ := f.find(string(key))
		f.slots[slot] = place
	}
}

// value is that of a key; false if there is none.
func (f *keyed) value(key string) (string, bool) {
	slot, found := f.find(key)
	if !found {
		return "", false
	}
	_, _, value, _ := unpackKeyed(f.lines.at(f.slots[slot] - 1))
	return string(value), true
}

// keys yields the keys and the numbers of their lines, in the order of the file.
func (f *keyed) keys() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, chunk := range f.lines.chunks {
			for len(chunk) > 0 {
				number, key, _, rest := unpackKeyed(chunk)
				if !yield(string(key), number) {
					return
				}
				chunk = rest
			}
		}
	}
}
