package device_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// tenant is a live buffer whose bytes are all of one value.
type tenant struct {
	device.Buffer
	what string
	mark byte
}

func (l *tenant) span() span { return span{address(l), (l.Size() + 63) / 64 * 64} }

// model is what a pool has to be, computed anew from the live buffers and the segments below each time.
type model struct {
	*testing.T
	random             *rand.Rand
	below              *recorder
	pool               *device.Pool
	live               []*tenant
	held               map[string]int64
	limit              int64
	peak, peakReserved int64
	mark               byte
}

func (m *model) allocated() (n int64) {
	for _, l := range m.live {
		n += l.Size()
	}
	return n
}

func (m *model) heldBytes() (n int64) {
	for _, bytes := range m.held {
		n += bytes
	}
	return n
}

func (m *model) reserved() (n int64) {
	for _, s := range m.below.spans {
		n += s.size
	}
	return n
}

func (m *model) over() int64 {
	if m.limit == 0 {
		return 0
	}
	return max(m.reserved()+m.heldBytes()-m.limit, 0)
}

// gaps are the idle blocks of a segment.
func (m *model) gaps(segment span) (gaps []span) {
	var taken []span
	for _, l := range m.live {
		if s := l.span(); s.from >= segment.from && s.from < segment.from+uintptr(segment.size) && s.size > 0 {
			taken = append(taken, s)
		}
	}
	slices.SortFunc(taken, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	end := segment.from + uintptr(segment.size)
	for i, at := 0, segment.from; at < end; i++ {
		next := span{end, 0}
		if i < len(taken) {
			next = taken[i]
		}
		if next.from < at {
			m.Fatalf("a buffer at %#x begins in another, that ends at %#x", next.from, at)
		}
		if next.from > at {
			gaps = append(gaps, span{at, int64(next.from - at)})
		}
		at = next.from + uintptr(next.size)
	}
	return gaps
}

// fit is where a buffer of so many bytes belongs, 0 if no idle block has them.
func (m *model) fit(size int64) uintptr {
	best := span{}
	for _, segment := range m.below.spans {
		for _, g := range m.gaps(segment) {
			if g.size >= size && (best.size == 0 || g.size < best.size) {
				best = g
			}
		}
	}
	return best.from
}

// used is the size of all segments in which a buffer lives.
func (m *model) used() (n int64) {
	for _, s := range m.below.spans {
		if g := m.gaps(s); len(g) != 1 || g[0].size != s.size {
			n += s.size
		}
	}
	return n
}

func (m *model) alloc() {
	size := m.random.Int64N(2000)
	switch m.random.IntN(8) {
	case 0:
		size = 0
	case 1, 2, 3:
		size = size / 64 * 64
	}
	block := (size + 63) / 64 * 64
	where, over, used, reserved := m.fit(block), m.over(), m.used(), m.reserved()
	room := func(taken int64) bool {
		return (m.limit == 0 || taken+m.heldBytes()+block <= m.limit) && (m.below.most == 0 || taken+block <= m.below.most)
	}
	fits := size == 0 || over == 0 && (where != 0 || room(used))
	what := fmt.Sprint("purpose ", m.random.IntN(5))
	b, err := m.pool.Alloc(size, what)
	if err != nil {
		var short *device.OutOfMemory
		want := m.pool.Usage().OutOfMemory(size, what, nil)
		if fits || !errors.As(err, &short) || *short != *want {
			m.Fatalf("%d bytes: error is %v, want %v", size, err, want)
		}
		if over == 0 && m.reserved() != used {
			m.Fatalf("%d bytes are refused while %d idle ones are kept", size, m.reserved()-used)
		}
		return
	}
	switch {
	case !fits:
		m.Fatalf("%d bytes though there is no room for them", size)
	case size == 0:
	case where != 0 && address(b) != where:
		m.Fatalf("%d bytes lie at %#x, want %#x", size, address(b), where)
	case where != 0 && m.reserved() != reserved:
		m.Fatalf("%d bytes that were there change what is reserved from %d to %d", size, reserved, m.reserved())
	case where == 0 && room(reserved) && m.reserved() != reserved+block:
		m.Fatalf("%d bytes change what is reserved from %d to %d", size, reserved, m.reserved())
	}
	if m.over() > 0 && over == 0 {
		m.Fatalf("%d bytes pass the limit by %d", size, m.over())
	}
	if b.Size() != size || !bytes.Equal(b.Host(), make([]byte, size)) {
		m.Fatalf("%d bytes are not as many zeros", size)
	}
	m.mark++
	for i := range b.Host() {
		b.Host()[i] = m.mark
	}
	m.live = append(m.live, &tenant{b, what, m.mark})
}

func (m *model) free() {
	if len(m.live) == 0 {
		return
	}
	i := m.random.IntN(len(m.live))
	m.untouched(m.live[i])
	m.live[i].Free()
	m.live[i].Free()
	m.live = slices.Delete(m.live, i, i+1)
}

// untouched fails if somebody else has written to a buffer.
func (m *model) untouched(l *tenant) {
	if i := slices.IndexFunc(l.Host(), func(b byte) bool { return b != l.mark }); i >= 0 {
		m.Fatalf("byte %d of a buffer of %d has changed", i, l.Size())
	}
}

func (m *model) hold() {
	name, bytes := fmt.Sprint("other ", m.random.IntN(3)), max(m.random.Int64N(3000)-500, 0)
	grows := bytes > m.held[name]
	if m.held[name] = bytes; bytes == 0 {
		delete(m.held, name)
	}
	err := m.pool.Hold(name, bytes)
	var short *device.OutOfMemory
	if fails := grows && m.over() > 0; fails != errors.As(err, &short) || !fails && err != nil {
		m.Fatalf("holding %d bytes, %d above the limit: %v", bytes, m.over(), err)
	}
}

func (m *model) trim() {
	used, reserved := m.used(), m.reserved()
	if n := m.pool.Trim(); n != reserved-used || m.reserved() != used {
		m.Fatalf("Trim gives %d bytes back and leaves %d, want %d and %d", n, m.reserved(), reserved-used, used)
	}
}

func (m *model) setLimit() {
	m.limit = m.random.Int64N(40_000)
	if m.random.IntN(4) == 0 {
		m.limit = 0
	}
	used, reserved, over := m.used(), m.reserved(), m.over()
	m.pool.SetLimit(m.limit)
	if over == 0 && m.reserved() != reserved || m.over() > 0 && m.reserved() != used {
		m.Fatalf("a limit of %d makes %d bytes of %d, %d of them in use", m.limit, m.reserved(), reserved, used)
	}
}

// check holds the counts to the model's.
func (m *model) check() {
	m.peak = max(m.peak, m.allocated())
	m.peakReserved = max(m.peakReserved, m.reserved()+m.heldBytes())
	want := device.Usage{Allocated: m.allocated(), Reserved: m.below.Usage().Reserved, Held: m.heldBytes(), Limit: m.limit,
		Peak: m.peak, PeakReserved: m.peakReserved, Buffers: len(m.live)}
	if got := m.pool.Usage(); got != want || m.pool.Over() != m.over() {
		m.Fatalf("%+v and %d above the limit, want %+v and %d", got, m.pool.Over(), want, m.over())
	}
	if m.over() > 0 && m.reserved() != m.used() {
		m.Fatalf("idle segments are kept above the limit")
	}
	sums := maps.Clone(m.held)
	for _, l := range m.live {
		if l.Size() > 0 {
			sums[l.what] += l.Size()
		}
	}
	last := device.Holder{Name: "", Bytes: 1 << 60}
	for _, h := range m.pool.Holders() {
		if h.Bytes > last.Bytes || h.Bytes == last.Bytes && h.Name <= last.Name || sums[h.Name] != h.Bytes {
			m.Fatalf("%+v after %+v, want %d bytes", h, last, sums[h.Name])
		}
		delete(sums, h.Name)
		last = h
	}
	if len(sums) > 0 {
		m.Fatalf("holders %v are not named", sums)
	}
}

// Whatever is done in whatever order, a pool does what the model says.
func TestPoolDoesWhatTheModelSays(t *testing.T) {
	for seed := range uint64(12) {
		below := &recorder{Device: device.NewHost()}
		m := &model{T: t, random: testkit.Rand(seed), below: below, pool: device.NewPool(below, 0), held: map[string]int64{}}
		for range 1500 {
			switch n := m.random.IntN(100); {
			case n < 50:
				m.alloc()
			case n < 82:
				m.free()
			case n < 85:
				m.trim()
			case n < 90:
				m.setLimit()
			case n < 94:
				m.hold()
			case n < 96:
				below.most = m.random.Int64N(4) * 12_000
			case n < 97:
				m.pool.ResetPeaks()
				m.peak, m.peakReserved = 0, 0
			default:
				for _, l := range m.live {
					m.untouched(l)
				}
			}
			m.check()
		}
		for len(m.live) > 0 {
			m.free()
			m.check()
		}
		if m.pool.Trim(); len(below.spans) != 0 || below.Usage().Buffers != 0 || below.Usage().Reserved != 0 {
			t.Fatalf("when all is freed and given back the device below has %+v", below.Usage())
		}
	}
}
