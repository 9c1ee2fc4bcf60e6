package decode

import "unsafe"

// Greedy is the best path (Graves et al. 2006, section 3.2): the likeliest token of each frame, repeats merged, blanks
// dropped. Of equally likely tokens it takes the one with the lowest id.
type Greedy struct {
	blank  int32
	tokens []int32
	spans  []Span
	out    [1]Hypothesis
}

// NewGreedy decodes with this id for the blank.
func NewGreedy(blank int32) *Greedy { return &Greedy{blank: blank} }

// Decode returns the one hypothesis. Its CTC is the log-probability of the best path.
func (g *Greedy) Decode(f Frames, _ int) []Hypothesis {
	g.tokens, g.spans = g.tokens[:0], g.spans[:0]
	last, sum := g.blank, 0.0
	for t := range f.T() {
		row := f.Row(t)
		best := 0
		for i, x := range row {
			if x > row[best] {
				best = i
			}
		}
		p, id := float64(row[best]), int32(best)
		sum += p
		switch n := len(g.spans); {
		case id == g.blank:
		case id == last:
			g.spans[n-1].End++
			g.spans[n-1].LogProb += p
		default:
			g.tokens = append(g.tokens, id)
			g.spans = append(g.spans, Span{Start: int32(t), End: int32(t) + 1, LogProb: p})
		}
		last = id
	}
	g.out[0] = Hypothesis{Tokens: g.tokens, Spans: g.spans, Score: sum, CTC: sum}
	return g.out[:]
}

// Bytes is the most that so many frames make it hold: a token in each.
func (g *Greedy) Bytes(frames, _ int) int64 {
	return growth * int64(frames) * int64(unsafe.Sizeof(int32(0))+unsafe.Sizeof(Span{}))
}

// growth is how much larger than what it holds a slice may be that grew by appending.
const growth = 2
