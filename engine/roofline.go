package engine

import (
	"cmp"
	"maps"
	"slices"

	"konkanitrain/device/cuda"
)

// CardSpeed is what a graphics card does at best, as its maker's data sheet has it.
type CardSpeed struct {
	Bytes      float64 // a second, of its memory
	Float32    float64 // FLOP/s outside tensor cores
	Tensor     float64 // FLOP/s of products of float16 with sums in float32; 0: there are no tensor cores
	Double     float64 // FLOP/s in float64
	Processors int     // streaming multiprocessors
}

// What of a card's best is counted on, and what a launch costs beside: assumptions, not measurements of these kernels.
// They stay as far below the data sheets as microbenchmarks of a T4 and a V100 do, whose memory streams slower, and
// whose clock falls at the limit of power (Jia et al. 2019, arXiv:1903.07486).
const (
	ofBytes     = 0.7
	ofProducts  = 0.6    // with whole tiles
	ofFLOPs     = 0.5    // of kernels: not every operation is a product with a sum
	tile        = 64     // rows and columns of a product that a block has: the rest of a tile is computed in vain
	gapSeconds  = 2e-6   // between two launches of a graph
	stepSeconds = 1.2e-6 // of a chain: a barrier, and two reads that wait for each other
)

// Seconds is the estimate of a launch's time: the longest of what its bytes, its operations and its chain need, and the
// gap before the next one.
func (s CardSpeed) Seconds(l *cuda.Launch) float64 {
	return max(float64(l.Bytes)/(ofBytes*s.Bytes), s.compute(l), float64(l.Chain)*stepSeconds) + gapSeconds
}

// compute is the time that a launch's operations need.
func (s CardSpeed) compute(l *cuda.Launch) float64 {
	if p := l.Product; p != nil {
		peak := s.Float32
		if p.A.Half && s.Tensor > 0 {
			peak = s.Tensor
		}
		whole := func(n int) float64 { return float64((n + tile - 1) / tile * tile) }
		return 2 * whole(p.M) * whole(p.N) * float64(p.K) * float64(p.Batch) / (ofProducts * peak)
	}
	grid := l.Blocks()
	busy := min(1, float64(grid[0])*float64(grid[1])*float64(grid[2])/float64(s.Processors))
	return ((l.FLOPs-l.Doubles)/s.Float32 + l.Doubles/s.Double) / (ofFLOPs * busy)
}

// CardTime is the estimate for all steps of one kind of op.
type CardTime struct {
	Op       string  `json:"op"`
	Calls    int     `json:"calls"`
	Launches int     `json:"launches"`
	Bytes    float64 `json:"bytes"` // read and written
	FLOPs    float64 `json:"flops"`
	Seconds  float64 `json:"seconds"`
	Eager    float64 `json:"eager_seconds"` // of the same op in PyTorch, on paper: see [CardSpeed.Eager]
}

// CardTimes are those of an update, the longest first. They belong to one card and one precision.
type CardTimes struct {
	speed CardSpeed
	half  bool
	rows  map[string]*CardTime
}

// NewCardTimes is an empty list.
func NewCardTimes(s CardSpeed, half bool) *CardTimes {
	return &CardTimes{speed: s, half: half, rows: map[string]*CardTime{}}
}

// Add adds a run of a program that was compiled for a card.
func (c *CardTimes) Add(p *Program) error {
	for _, s := range p.Steps {
		eager, err := eagerLaunches(s, c.half)
		if err != nil {
			return err
		}
		c.add(s.Op.Name, s.Kernel.Launches, eager)
	}
	return nil
}

// AddUpdate adds an update of n weights, which takes these launches.
func (c *CardTimes) AddUpdate(n int, launches []cuda.Launch) {
	c.add("update", launches, eagerUpdate(n))
}

func (c *CardTimes) add(name string, launches, eager []cuda.Launch) {
	t := CardTime{Op: name, Calls: 1, Launches: len(launches)}
	for i := range launches {
		t.Bytes += float64(launches[i].Bytes)
		t.FLOPs += launches[i].FLOPs
		t.Seconds += c.speed.Seconds(&launches[i])
	}
	for i := range eager {
		t.Eager += c.speed.Eager(&eager[i])
	}
	if c.rows[name] == nil {
		c.rows[name] = &CardTime{Op: name}
	}
	c.rows[name].Add(t)
}

// Add adds another one's figures.
func (t *CardTime) Add(other CardTime) {
	t.Calls += other.Calls
	t.Launches += other.Launches
	t.Bytes += other.Bytes
	t.FLOPs += other.FLOPs
	t.Seconds += other.Seconds
	t.Eager += other.Eager
}

// Rows are the kinds of op, the longest first.
func (c *CardTimes) Rows() []CardTime {
	var list []CardTime
	for _, r := range c.rows {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b CardTime) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Op, b.Op))
	})
	return list
}

// Total is the sum of all rows.
func (c *CardTimes) Total() CardTime {
	t := CardTime{Op: "all ops"}
	for _, name := range slices.Sorted(maps.Keys(c.rows)) {
		t.Add(*c.rows[name])
	}
	return t
}
