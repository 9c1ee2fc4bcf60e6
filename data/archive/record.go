package archive

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// recorder writes numbers and texts one behind the other.
type recorder []byte

func (r *recorder) number(v int64) { *r = binary.AppendVarint(*r, v) }

func (r *recorder) text(s string) {
	r.number(int64(len(s)))
	*r = append(*r, s...)
}

// replayer reads what a recorder wrote. bad, once set, stays.
type replayer struct {
	b   []byte
	bad bool
}

func (r *replayer) number() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// between is a number that must be from low to high.
func (r *replayer) between(low, high int64) int64 {
	v := r.number()
	if v < low || v > high {
		r.b, r.bad = nil, true
		return low
	}
	return v
}

// count is a number of things that each take a byte or more.
func (r *replayer) count() int {
	v := r.number()
	if v < 0 || v > int64(len(r.b)) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(v)
}

func (r *replayer) text() string {
	n := r.count()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// whole says whether all was read and nothing was wrong.
func (r *replayer) whole() bool { return !r.bad && len(r.b) == 0 }

func (r *recorder) notes(notes []string) {
	r.number(int64(len(notes)))
	for _, n := range notes {
		r.text(n)
	}
}

func (r *replayer) notes() []string {
	var notes []string
	for range r.count() {
		notes = append(notes, r.text())
	}
	return notes
}

func (t *tarball) record() []byte {
	var r recorder
	r.notes(t.notes)
	r.number(int64(len(t.members)))
	at := int64(0)
	for i := range t.members {
		m := &t.members[i]
		r.text(m.name)
		r.number(m.at - at)
		r.number(m.size)
		at = m.at
		switch {
		case m.link != "":
			r.number(2)
			r.text(m.link)
		case m.whole:
			r.number(1)
			r.text(m.text)
		default:
			r.number(0)
		}
	}
	return r
}

// replayTar is the tarball that was recorded; nil if b isn't one.
func replayTar(b []byte, f file) *tarball {
	r := replayer{b: b}
	t := &tarball{file: &f, notes: r.notes()}
	n := r.count()
	t.members = make([]member, 0, n)
	at := int64(0)
	for range n {
		m := member{name: r.text()}
		m.at = at + r.between(0, f.size-at)
		m.size = r.between(0, f.size-m.at)
		at = m.at
		switch r.between(0, 2) {
		case 1:
			m.text, m.whole = r.text(), true
		case 2:
			m.link = r.text()
		}
		if r.bad {
			return nil
		}
		t.members = append(t.members, m)
	}
	if !r.whole() {
		return nil
	}
	return t
}

func (t *table) record() []byte {
	var r recorder
	r.notes(t.notes)
	r.number(int64(len(t.pages)))
	for i := range t.pages {
		p := &t.pages[i]
		for _, v := range []int64{p.at, int64(p.packed), int64(p.size), int64(p.codec), int64(len(p.cuts))} {
			r.number(v)
		}
		last := cut{}
		for _, c := range p.cuts {
			r.number(int64(c.plain - last.plain))
			r.number(int64(c.packed - last.packed))
			last = c
		}
	}
	r.number(int64(len(t.rows)))
	for i := range t.rows {
		c := &t.rows[i]
		for _, s := range []string{c.id, c.path, c.text, c.speaker, c.stated} {
			r.text(s)
		}
		for _, v := range []int32{c.page, c.at, c.size} {
			r.number(int64(v))
		}
	}
	return r
}

// replayTable is the table that was recorded; nil if b isn't one.
func replayTable(b []byte, f file) *table {
	r := replayer{b: b}
	t := &table{file: f, notes: r.notes()}
	const most = 1<<31 - 1
	n := r.count()
	t.pages = make([]page, 0, n)
	for range n {
		p := page{at: r.between(0, f.size)}
		p.packed = int32(r.between(0, min(most, f.size-p.at)))
		p.size = int32(r.between(0, most))
		p.codec = format.CompressionCodec(r.between(0, int64(format.Lz4Raw)))
		last := cut{}
		for range r.count() {
			last.plain += uint32(r.between(0, int64(p.size)-int64(last.plain)))
			last.packed += uint32(r.between(0, int64(p.packed)-int64(last.packed)))
			p.cuts = append(p.cuts, last)
		}
		if r.bad || p.cuts != nil && (p.cuts[0].plain != 0 || last.plain != uint32(p.size)) {
			return nil
		}
		if p.codec == format.Uncompressed && p.size != p.packed {
			return nil
		}
		t.pages = append(t.pages, p)
	}
	n = r.count()
	t.rows = make([]cells, 0, n)
	for range n {
		c := cells{id: r.text(), path: r.text(), text: r.text(), speaker: r.text(), stated: r.text()}
		c.page = int32(r.between(-1, int64(len(t.pages)-1)))
		size := int32(0)
		if c.page >= 0 {
			size = t.pages[c.page].size
		}
		c.at = int32(r.between(0, int64(size)))
		c.size = int32(r.between(0, int64(size-c.at)))
		if r.bad {
			return nil
		}
		t.rows = append(t.rows, c)
	}
	if !r.whole() {
		return nil
	}
	return t
}
