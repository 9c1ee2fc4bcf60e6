package device

import (
	"slices"
	"sort"
)

// granule divides the offset and the size of every block, in bytes: what Device.Alloc promises of alignment.
const granule = 64

func roundUp(bytes int64) int64 { return (bytes + granule - 1) / granule * granule }

// segment is memory of the device below. Its blocks cover it without gaps, by offset; no two idle ones are neighbors.
type segment struct {
	mem    Buffer
	blocks []block
}

// block is a part of a segment, in bytes.
type block struct {
	offset, size int64
	owner        *pooled // nil: it is idle
}

// idle says whether no buffer lives in the segment.
func (s *segment) idle() bool { return len(s.blocks) == 1 && s.blocks[0].owner == nil }

// take gives the first size bytes of idle block i to a buffer, and returns their offset.
func (s *segment) take(i int, size int64, owner *pooled) (offset int64) {
	b := s.blocks[i]
	s.blocks[i] = block{b.offset, size, owner}
	if rest := b.size - size; rest > 0 {
		s.blocks = slices.Insert(s.blocks, i+1, block{b.offset + size, rest, nil})
	}
	return b.offset
}

// release makes the block at an offset idle, and one with its idle neighbors.
func (s *segment) release(offset int64) {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].offset >= offset })
	s.blocks[i].owner = nil
	from, to := i, i+1
	if to < len(s.blocks) && s.blocks[to].owner == nil {
		to++
	}
	if from > 0 && s.blocks[from-1].owner == nil {
		from--
	}
	last := s.blocks[to-1]
	s.blocks[from].size = last.offset + last.size - s.blocks[from].offset
	s.blocks = slices.Delete(s.blocks, from+1, to)
}

// bestFit is the smallest idle block of so many bytes or more, of several the first; a nil segment if there is none.
func bestFit(segments []*segment, size int64) (best *segment, at int) {
	for _, s := range segments {
		for i, b := range s.blocks {
			if b.owner == nil && b.size >= size && (best == nil || b.size < best.blocks[at].size) {
				best, at = s, i
			}
		}
	}
	return best, at
}

// spare is the idle segment to be given back for so many bytes: the smallest that is enough, or else the largest; of
// several the oldest; -1 if there is none.
func spare(segments []*segment, bytes int64) int {
	best, most := -1, int64(0)
	for i, s := range segments {
		size := s.mem.Size()
		better := size > most
		if min(size, most) >= bytes {
			better = size < most
		}
		if s.idle() && better {
			best, most = i, size
		}
	}
	return best
}
