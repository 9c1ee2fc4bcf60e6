package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Block is a piece of memory that holds data from step First to step Last, both included.
type Block struct {
	Name        string
	Size        int // in words of 4 bytes
	First, Last int // steps; -1 is before the first one
}

// Plan gives every block a fixed place in one arena: blocks that live at the same time never overlap.
type Plan struct {
	Blocks  []Block
	Offsets []int // of Blocks[i], in words, multiples of align
	Size    int   // of the arena, in words: the peak, known without running
}

// align is the granularity of offsets in words: a cache line, so that no two blocks share one and every
// block is aligned for the widest vectors.
const align = 16

func aligned(words int) int { return (words + align - 1) / align * align }

// NewPlan is a pure function: equal blocks give equal plans. It places the largest block first, each at the
// lowest offset where it disturbs none of those placed before (greedy by size: Pisarchyk and Lee 2020,
// "Efficient Memory Management for Deep Neural Net Inference", section 5.2).
func NewPlan(blocks []Block) Plan {
	p := Plan{Blocks: blocks, Offsets: make([]int, len(blocks))}
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return blocks[b].Size - blocks[a].Size })
	placed := make([]int, 0, len(blocks)) // by offset
	for _, i := range order {
		b, offset := blocks[i], 0
		size := aligned(b.Size)
		for _, j := range placed {
			if !overlaps(b, blocks[j]) {
				continue
			}
			if offset+size <= p.Offsets[j] {
				break // it fits into the gap below j
			}
			offset = max(offset, p.Offsets[j]+aligned(blocks[j].Size))
		}
		p.Offsets[i] = offset
		p.Size = max(p.Size, offset+size)
		at, _ := slices.BinarySearchFunc(placed, offset, func(j, off int) int { return p.Offsets[j] - off })
		placed = slices.Insert(placed, at, i)
	}
	return p
}

// overlaps says whether two blocks live at the same time.
func overlaps(a, b Block) bool { return a.First <= b.Last && b.First <= a.Last }

// Check reports two blocks that live at the same time and share memory.
func (p Plan) Check() error {
	for i, a := range p.Blocks {
		if p.Offsets[i]%align != 0 || p.Offsets[i] < 0 || p.Offsets[i]+a.Size > p.Size {
			return fmt.Errorf("%s lies at %d, outside the arena of %d words or not on a cache line", a.Name, p.Offsets[i], p.Size)
		}
		for j, b := range p.Blocks[:i] {
			if overlaps(a, b) && p.Offsets[i] < p.Offsets[j]+b.Size && p.Offsets[j] < p.Offsets[i]+a.Size {
				return fmt.Errorf("%s and %s live at the same time and overlap", a.Name, b.Name)
			}
		}
	}
	return nil
}

// Live is the least an arena can be, in words: the most that lives at any one step. The planned Size can
// be larger by what doesn't fit into the gaps.
func (p Plan) Live() int {
	at := map[int]int{}
	for _, b := range p.Blocks {
		at[b.First] += aligned(b.Size)
		at[b.Last+1] -= aligned(b.Size)
	}
	steps := make([]int, 0, len(at))
	for s := range at {
		steps = append(steps, s)
	}
	slices.Sort(steps)
	live, most := 0, 0
	for _, s := range steps {
		live += at[s]
		most = max(most, live)
	}
	return most
}

// String is stable: it is what golden files compare.
func (p Plan) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "arena %d words, %d live at most\n", p.Size, p.Live())
	for i, b := range p.Blocks {
		fmt.Fprintf(&s, "%8d +%-7d steps %d-%d %s\n", p.Offsets[i], b.Size, b.First, b.Last, b.Name)
	}
	return s.String()
}
