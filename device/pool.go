package device

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Pool is a device that keeps what is freed for the next buffers. It takes segments from a device below, one for each
// request that no idle block serves, of just its size, rounded up to a multiple of 64 bytes. A buffer that is freed
// leaves an idle block, which is merged with its idle neighbors of the same segment. A request takes the smallest idle
// block that is large enough, of several the first of the oldest segment; what it doesn't need stays idle.
//
// Allocated is the sum of the sizes that were asked for, as with the devices below: for sizes that are multiples of 64
// it is what blocks take too, to the byte.
//
// Reserved never grows past the limit less Held. Where it would, segments that are idle as a whole are given back
// first: the smallest that is enough by itself, or the largest and then so on. Where the device below has no memory all
// of them are given back, and it is asked once more. While Reserved + Held is above the limit, because that was lowered
// or Held has grown, nothing is allocated, not even from idle blocks, and no segment stays idle: the process has to
// shrink.
//
// Finding a block takes time in proportion to the number of blocks. That is meant for some hundreds of buffers.
type Pool struct {
	under Device

	mu       sync.Mutex
	usage    Usage
	segments []*segment       // in the order in which they came
	held     map[string]int64 // by name
}

// NewPool is a pool without memory over a device. The limit is that of SetLimit.
func NewPool(under Device, limit int64) *Pool {
	p := &Pool{under: under, held: map[string]int64{}}
	p.SetLimit(limit)
	return p
}

// Name is that of the device below.
func (p *Pool) Name() string { return p.under.Name() }

// Alloc finds or takes memory, and clears it if it was used before. An error other than *OutOfMemory is one of the
// device below, or of a size below 0.
func (p *Pool) Alloc(size int64, what string) (Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("a buffer of %d bytes for %s: want 0 or more", size, what)
	}
	b := &pooled{pool: p, size: size, what: what}
	used, err := p.place(b)
	if err != nil {
		return nil, err
	}
	if used {
		b.Zero()
	}
	return b, nil
}

// place gives a new buffer its memory, and says whether that was used before.
func (p *Pool) place(b *pooled) (used bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.size > 0 {
		if p.over() > 0 || b.size > math.MaxInt64-granule {
			return false, p.usage.OutOfMemory(b.size, b.what, nil)
		}
		size := roundUp(b.size)
		s, i := bestFit(p.segments, size)
		if used = s != nil; !used {
			if s, err = p.grow(size, b); err != nil {
				return false, err
			}
		}
		b.place(s, s.take(i, size, b))
	}
	p.usage.Buffers++
	p.usage.Allocated += b.size
	p.note()
	return used, nil
}

// grow takes a segment of size bytes for b from the device below.
func (p *Pool) grow(size int64, b *pooled) (*segment, error) {
	p.makeRoom(size)
	if size > p.room() {
		return nil, p.usage.OutOfMemory(b.size, b.what, nil)
	}
	mem, err := p.under.Alloc(size, b.what)
	var short *OutOfMemory
	if errors.As(err, &short) && p.trim() > 0 {
		mem, err = p.under.Alloc(size, b.what)
	}
	switch {
	case err == nil:
	case errors.As(err, &short):
		return nil, p.refusedBelow(b, short)
	default:
		return nil, err
	}
	s := &segment{mem: mem, blocks: []block{{size: size}}}
	p.segments = append(p.segments, s)
	p.usage.Reserved += size
	return s, nil
}

// refusedBelow is the error for b: the counts of this pool, with the limit and the cause that the device below names.
func (p *Pool) refusedBelow(b *pooled, below *OutOfMemory) error {
	e := p.usage.OutOfMemory(b.size, b.what, below.Err)
	if below.Limit > 0 {
		e.Limit = below.Limit
	}
	return e
}

// free takes a buffer's memory back, once.
func (p *Pool) free(b *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.freed {
		return
	}
	b.freed = true
	p.usage.Buffers--
	p.usage.Allocated -= b.size
	if b.segment != nil {
		b.segment.release(b.offset)
		b.segment, b.host = nil, nil
		p.makeRoom(0)
	}
}

// room is how many bytes Reserved + Held may grow by; below 0 they are above the limit.
func (p *Pool) room() int64 {
	if p.usage.Limit == 0 {
		return math.MaxInt64
	}
	return p.usage.Limit - p.usage.Held - p.usage.Reserved
}

func (p *Pool) over() int64 { return max(-p.room(), 0) }

// makeRoom gives idle segments back until there is room for so many bytes, as far as that is possible.
func (p *Pool) makeRoom(bytes int64) {
	for bytes > p.room() {
		i := spare(p.segments, bytes-p.room())
		if i < 0 {
			return
		}
		p.giveBack(i)
	}
}

// trim gives all idle segments back.
func (p *Pool) trim() (bytes int64) {
	for i := len(p.segments) - 1; i >= 0; i-- {
		if p.segments[i].idle() {
			bytes += p.giveBack(i)
		}
	}
	return bytes
}

func (p *Pool) giveBack(i int) int64 {
	bytes := p.segments[i].mem.Size()
	p.segments[i].mem.Free()
	p.segments = slices.Delete(p.segments, i, i+1)
	p.usage.Reserved -= bytes
	return bytes
}

// note keeps the peaks.
func (p *Pool) note() {
	p.usage.Peak = max(p.usage.Peak, p.usage.Allocated)
	p.usage.PeakReserved = max(p.usage.PeakReserved, p.usage.Reserved+p.usage.Held)
}

// Usage is what is held now.
func (p *Pool) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.usage
}

// ResetPeaks makes the peaks those of what is held now.
func (p *Pool) ResetPeaks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.usage.Peak, p.usage.PeakReserved = 0, 0
	p.note()
}

// Trim gives all segments in which no buffer lives back to the device below, and returns their bytes.
func (p *Pool) Trim() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trim()
}

// SetLimit sets the most bytes that Reserved + Held may be, 0 for no limit. It may be less than what is held: idle
// segments are given back at once, as far as needed; live buffers stay. A limit below 0, what a calculation has left
// when all is gone, lets nothing in, as 1 does.
func (p *Pool) SetLimit(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes < 0 {
		bytes = 1
	}
	p.usage.Limit = bytes
	p.makeRoom(0)
}

// Over is by how many bytes Reserved + Held is above the limit, 0 if it isn't.
func (p *Pool) Over() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over()
}

// Hold says how many bytes the rest of the process holds under a name, in place of what it said before; 0 removes the
// name. They count under the limit: idle segments are given back for them, as far as needed. The figure is a fact and
// no request, so it is taken over in any case. An *OutOfMemory says that a figure that has grown is above the limit;
// Held in it leaves this name out.
func (p *Pool) Hold(what string, bytes int64) error {
	if bytes < 0 {
		return fmt.Errorf("%s holds %d bytes: want 0 or more", what, bytes)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.held[what]
	if p.held[what] = bytes; bytes == 0 {
		delete(p.held, what)
	}
	p.usage.Held += bytes - before
	p.makeRoom(0)
	p.note()
	if bytes > before && p.over() > 0 {
		u := p.usage
		u.Held -= bytes
		return u.OutOfMemory(bytes, what, nil)
	}
	return nil
}

// Holder is who holds memory.
type Holder struct {
	Name  string // a buffer's purpose, or the name given to Pool.Hold
	Bytes int64
}

// Holders are the live buffers by their purpose, and what the rest of the process holds: together Allocated + Held.
// The largest comes first, of equal ones the first by name.
func (p *Pool) Holders() []Holder {
	p.mu.Lock()
	defer p.mu.Unlock()
	sums := map[string]int64{}
	for name, bytes := range p.held {
		sums[name] += bytes
	}
	for _, s := range p.segments {
		for _, b := range s.blocks {
			if b.owner != nil {
				sums[b.owner.what] += b.owner.size
			}
		}
	}
	var list []Holder
	for name, bytes := range sums {
		list = append(list, Holder{name, bytes})
	}
	slices.SortFunc(list, func(a, b Holder) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	return list
}
