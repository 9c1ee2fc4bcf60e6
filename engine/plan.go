package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Buffer is memory for one piece of data, or for several one after the other, which nothing else may use from the step
// that writes it first to the last step that reads it.
type Buffer struct {
	Name        string // of the value that it holds first: its place in the network
	Size        int64  // bytes
	First, Last int    // steps; -1 is before the first one, End after the last one
}

// End is the Last of a buffer that the caller reads after a run.
const End = math.MaxInt

// overlaps says whether two buffers live at the same time.
func overlaps(a, b Buffer) bool { return a.First <= b.Last && b.First <= a.Last }

// align is the granularity of offsets in bytes: a cache line, so that no two buffers share one and every
// buffer is aligned for the widest vectors.
const align = 64

func aligned(bytes int64) int64 { return (bytes + align - 1) / align * align }

// Plan gives every buffer its place in one arena. Two buffers may share bytes, but not at the same time.
type Plan struct {
	Buffers []Buffer
	Offsets []int64 // of Buffers[i], in bytes, multiples of 64
	Size    int64   // of the arena, in bytes: the peak, known without running
}

// placing is a buffer on its way into a plan.
type placing struct {
	Buffer
	index      int   // in Plan.Buffers
	start, end int64 // in the arena
}

// NewPlan finds places greedily by size (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net
// Inference", section 5.2): large buffers choose first, and each takes the lowest place that is free while it lives. Of
// buffers of one size the earlier in the list chooses first, so that the same list always has the same plan.
func NewPlan(buffers []Buffer) Plan {
	queue := make([]*placing, len(buffers))
	for i, b := range buffers {
		queue[i] = &placing{Buffer: b, index: i}
	}
	slices.SortStableFunc(queue, func(a, b *placing) int { return cmp.Compare(b.Size, a.Size) })

	plan := Plan{Buffers: buffers, Offsets: make([]int64, len(buffers))}
	arena := make([]*placing, 0, len(buffers)) // what has its place, by start
	for _, b := range queue {
		b.start = lowest(arena, b.Buffer)
		b.end = b.start + aligned(b.Size)
		above, _ := slices.BinarySearchFunc(arena, b, func(a, b *placing) int { return cmp.Compare(a.start, b.start) })
		arena = slices.Insert(arena, above, b)
		plan.Offsets[b.index] = b.start
		plan.Size = max(plan.Size, b.end)
	}
	return plan
}

// lowest returns where b can lie beside what is in the arena already: above each neighbor of its time, unless it fits
// in below.
func lowest(arena []*placing, b Buffer) (start int64) {
	for _, other := range arena {
		if other.start >= start+aligned(b.Size) {
			break
		}
		if overlaps(other.Buffer, b) {
			start = max(start, other.end)
		}
	}
	return start
}

// Check reports two buffers that live at the same time and share memory.
func (p Plan) Check() error {
	for i, a := range p.Buffers {
		start, end := p.Offsets[i], p.Offsets[i]+a.Size
		if start < 0 || start%align != 0 || end > p.Size {
			return fmt.Errorf("%s lies at %d, outside the arena of %d bytes or not on a cache line", a.Name, start, p.Size)
		}
		for j, b := range p.Buffers[:i] {
			shared := min(end, p.Offsets[j]+b.Size) - max(start, p.Offsets[j])
			if shared > 0 && overlaps(a, b) {
				return fmt.Errorf("%s and %s live at the same time and overlap by %d bytes", a.Name, b.Name, shared)
			}
		}
	}
	return nil
}

// Live is the least an arena can be, in bytes: the most that lives at any one step. The planned Size can
// be larger by what doesn't fit into the gaps.
func (p Plan) Live() int64 {
	at := map[int]int64{}
	for _, b := range p.Buffers {
		at[b.First] += aligned(b.Size)
		if b.Last != End {
			at[b.Last+1] -= aligned(b.Size)
		}
	}
	steps := make([]int, 0, len(at))
	for s := range at {
		steps = append(steps, s)
	}
	slices.Sort(steps)
	var live, most int64
	for _, s := range steps {
		live += at[s]
		most = max(most, live)
	}
	return most
}

// String is the plan as text, a line for each buffer in the order of Buffers, for people and for files to compare with.
func (p Plan) String() string {
	text := fmt.Appendf(nil, "arena %d bytes, %d live at most\n", p.Size, p.Live())
	for i, b := range p.Buffers {
		text = fmt.Appendf(text, "%9d +%-8d steps %s-%s %s\n", p.Offsets[i], b.Size, moment(b.First), moment(b.Last), b.Name)
	}
	return string(text)
}

// moment is a step's number, or what stands for before the first and after the last one.
func moment(step int) string {
	switch step {
	case -1:
		return "start"
	case End:
		return "end"
	}
	return strconv.Itoa(step)
}
