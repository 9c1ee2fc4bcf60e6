package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// Block is memory for one piece of data, which nothing else may use from the step that writes it to the last step that
// reads it.
type Block struct {
	Name        string
	Size        int // in words of 4 bytes
	First, Last int // steps; -1 is before the first one
}

// overlaps says whether two blocks live at the same time.
func overlaps(a, b Block) bool { return a.First <= b.Last && b.First <= a.Last }

// align is the granularity of offsets in words: a cache line, so that no two blocks share one and every
// block is aligned for the widest vectors.
const align = 16

func aligned(words int) int { return (words + align - 1) / align * align }

// Plan gives every block its place in one arena. Two blocks may share words, but not at the same time.
type Plan struct {
	Blocks  []Block
	Offsets []int // of Blocks[i], in words, multiples of align
	Size    int   // of the arena, in words: the peak, known without running
}

// placing is a block on its way into a plan.
type placing struct {
	Block
	index      int // in Plan.Blocks
	start, end int // in the arena
}

// NewPlan finds places greedily by size (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net
// Inference", section 5.2): large blocks choose first, and each takes the lowest place that is free while it lives. Of
// blocks of one size the earlier in the list chooses first, so that the same list always has the same plan.
func NewPlan(blocks []Block) Plan {
	queue := make([]*placing, len(blocks))
	for i, b := range blocks {
		queue[i] = &placing{Block: b, index: i}
	}
	slices.SortStableFunc(queue, func(a, b *placing) int { return cmp.Compare(b.Size, a.Size) })

	plan := Plan{Blocks: blocks, Offsets: make([]int, len(blocks))}
	arena := make([]*placing, 0, len(blocks)) // what has its place, by start
	for _, b := range queue {
		b.start = lowest(arena, b.Block)
		b.end = b.start + aligned(b.Size)
		above, _ := slices.BinarySearchFunc(arena, b, func(a, b *placing) int { return cmp.Compare(a.start, b.start) })
		arena = slices.Insert(arena, above, b)
		plan.Offsets[b.index] = b.start
		plan.Size = max(plan.Size, b.end)
	}
	return plan
}

// lowest returns where b can lie beside what is in the arena already: above each neighbour of its time, unless it fits
// in below.
func lowest(arena []*placing, b Block) (start int) {
	for _, other := range arena {
		if other.start >= start+aligned(b.Size) {
			break
		}
		if overlaps(other.Block, b) {
			start = max(start, other.end)
		}
	}
	return start
}

// Check reports two blocks that live at the same time and share memory.
func (p Plan) Check() error {
	for i, a := range p.Blocks {
		start, end := p.Offsets[i], p.Offsets[i]+a.Size
		if start < 0 || start%align != 0 || end > p.Size {
			return fmt.Errorf("%s lies at %d, outside the arena of %d words or not on a cache line", a.Name, start, p.Size)
		}
		for j, b := range p.Blocks[:i] {
			shared := min(end, p.Offsets[j]+b.Size) - max(start, p.Offsets[j])
			if shared > 0 && overlaps(a, b) {
				return fmt.Errorf("%s and %s live at the same time and overlap by %d words", a.Name, b.Name, shared)
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

// String is the plan as text, a line for each block in the order of Blocks, for people and for files to compare with.
func (p Plan) String() string {
	text := fmt.Appendf(nil, "arena %d words, %d live at most\n", p.Size, p.Live())
	for i, b := range p.Blocks {
		text = fmt.Appendf(text, "%8d +%-7d steps %d-%d %s\n", p.Offsets[i], b.Size, b.First, b.Last, b.Name)
	}
	return string(text)
}
