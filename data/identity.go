package data

import (
	"bytes"
	"fmt"
	"strconv"
	"unsafe"

	"konkanitrain/internal/philox"
	"konkanitrain/internal/words"
)

// identities finds rows by their identity, and holds that no two have the same.
type identities struct {
	rows    *rows
	named   int     // rows with a prefix
	first   [2]int  // the first of them, and the row that has its identity without it
	written []byte  // an identity that is compared
	slots   []int32 // open addressing by key; 0 is free, else one more than the row
	other   []byte  // an identity that is compared
}

// newIdentities gives each row its key. A path that is listed again without an id gets a number; an id that stands
// twice is an error, as are two identities with the same key. path is the manifest's. Rows that have their keys are of
// manifests that were read before: an identity of theirs has prefix before it here.
func newIdentities(r *rows, path, prefix string) (*identities, error) {
	n := len(r.places)
	from := len(r.keys) // the rows of manifests that were read before
	size := 8
	for size < n+n/2 {
		size *= 2
	}
	x := &identities{rows: r, slots: make([]int32, size)}
	for j, key := range r.keys {
		x.fill(j, key)
	}
	r.keys = append(r.keys, make([]uint64, n-from)...)
	if r.repeats != nil {
		r.repeats = append(r.repeats, make([]int32, n-from)...)
	}
	if r.prefixes != nil {
		r.prefixes = append(r.prefixes, make([]int32, n-from)...)
	}
	var id []byte
	var plain []int32 // without an id, and with a path
	for i := from; i < n; i++ {
		p := r.at(i)
		if p.id == nil {
			if r.sounds[i] >= 0 {
				plain = append(plain, int32(i))
			}
			continue
		}
		x.prefix(i, &p, from, prefix)
		id = r.appendBase(id[:0], i, &p)
		j, slot := x.find(id)
		if j >= 0 {
			before := r.at(j)
			if before.file != p.file {
				return nil, fmt.Errorf("manifest %s: the id %s stands on %s of %s and on %s of %s; it keys the random draws and must be unique, rename one",
					path, id, r.line(before), r.files.list[before.file], r.line(p), r.files.list[p.file])
			}
			return nil, fmt.Errorf("manifest %s: the id %s stands on %s and on %s; it keys the random draws and must be unique, rename one",
				r.files.list[p.file], id, r.line(before), r.line(p))
		}
		if err := x.put(i, slot, id, path); err != nil {
			return nil, err
		}
	}
	listed := make([]int32, n) // how often the path of a row was listed again
	for _, i := range plain {
		i := int(i)
		p := r.at(i)
		x.prefix(i, &p, from, prefix)
		id = r.appendBase(id[:0], i, &p)
		base := len(id)
		first, slot := x.find(id)
		for j := first; j >= 0; j, slot = x.find(id) {
			listed[first]++
			id = strconv.AppendInt(append(id[:base], '#'), int64(listed[first]+1), 10)
		}
		if len(id) > base {
			if r.repeats == nil {
				r.repeats = make([]int32, n)
			}
			r.repeats[i] = listed[first] + 1
		}
		if err := x.put(i, slot, id, path); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// prefix gives row i, which p was unpacked of, a prefix where a row before from has its identity.
func (x *identities) prefix(i int, p *packedRow, from int, prefix string) {
	if from == 0 {
		return
	}
	x.written = x.rows.appendWritten(x.written[:0], i, p)
	j, _ := x.find(x.written)
	if j < 0 || j >= from {
		return
	}
	if x.rows.prefixes == nil {
		x.rows.prefixes = make([]int32, len(x.rows.places))
	}
	x.rows.prefixes[i] = 1 + x.rows.before.number(prefix)
	if x.named++; x.named == 1 {
		x.first = [2]int{i, j}
	}
}

// fill takes in a row that has its key.
func (x *identities) fill(row int, key uint64) {
	mask := len(x.slots) - 1
	slot := int(key) & mask
	for x.slots[slot] != 0 {
		slot = (slot + 1) & mask
	}
	x.slots[slot] = int32(row + 1)
}

// sayPrefixes says which identities have a prefix; "" where none has.
func (x *identities) sayPrefixes(prefix string) string {
	if x.named == 0 {
		return ""
	}
	r, here, there := x.rows, x.rows.at(x.first[0]), x.rows.at(x.first[1])
	return fmt.Sprintf("%s of %s stand in an earlier manifest too, and have %s before them here (the first: %s, and %s of %s)",
		words.Count(x.named, "id"), r.files.list[here.file], prefix, r.line(here), r.line(there), r.files.list[there.file])
}

// find is the row with an identity, or -1 and the slot where it would be.
func (x *identities) find(id []byte) (row, slot int) {
	key := keyOf(id)
	mask := len(x.slots) - 1
	for slot = int(key) & mask; x.slots[slot] != 0; slot = (slot + 1) & mask {
		j := int(x.slots[slot] - 1)
		if x.rows.keys[j] != key {
			continue
		}
		p := x.rows.at(j)
		if x.other = x.rows.appendID(x.other[:0], j, &p); bytes.Equal(x.other, id) {
			return j, slot
		}
	}
	return -1, slot
}

// put takes row i in at the slot that find gave for its identity.
func (x *identities) put(i, slot int, id []byte, path string) error {
	key, mask := keyOf(id), len(x.slots)-1
	for s := int(key) & mask; x.slots[s] != 0; s = (s + 1) & mask {
		if j := int(x.slots[s] - 1); x.rows.keys[j] == key {
			return fmt.Errorf("manifest %s: the ids %s and %s have the same 64-bit key, so their random draws would be the same; rename one",
				path, x.rows.id(j), id)
		}
	}
	x.slots[slot], x.rows.keys[i] = int32(i+1), key
	return nil
}

// again is a row that lists a path again, in words.
type again struct {
	ids *identities
	row int
}

// String says which path it is, where it was listed first, and what the row is called.
func (a again) String() string {
	r := a.ids.rows
	p := r.at(a.row)
	base := r.appendBase(nil, a.row, &p)
	first, _ := a.ids.find(base)
	before, of := r.at(first), ""
	if before.file != p.file {
		of = " of " + r.files.list[before.file]
	}
	return fmt.Sprintf("%s, as on %s%s; called %s", base, r.line(before), of, r.id(a.row))
}

func keyOf(id []byte) uint64 { return philox.ID(unsafe.String(unsafe.SliceData(id), len(id))) }
