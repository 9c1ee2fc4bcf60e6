package engine

import (
	"io"
	"math"

	"konkanitrain/device"
)

// Null is a replica without memory: it compiles, counts what each buffer would take, fails where a device of its size
// would, and computes nothing. A whole run's plans can be carried out on it.
type Null[K comparable] struct {
	*holding[K]
	// Rows are those of its Wishes, a crew's to begin with. math.MaxInt is for a target on which any number of rows is
	// fast.
	Rows int
}

// NewNull is a null replica on a device, which should be one that keeps nothing: a [device.Null], or a pool over one.
func NewNull[K comparable](dev device.Device, lib *Library[K], workers int, train bool) (*Null[K], error) {
	h, err := hold(dev, lib, workers, train, nil)
	if err != nil {
		return nil, err
	}
	return &Null[K]{holding: h, Rows: enoughRows}, nil
}

// NewNullCard is a null replica that counts what one on a card would hold: see [NewCard].
func NewNullCard[K comparable](dev device.Device, lib *Library[K], half, train bool) (*Null[K], error) {
	h, err := hold(dev, lib, 1, train, &cardMemory{half: half})
	if err != nil {
		return nil, err
	}
	return &Null[K]{holding: h, Rows: math.MaxInt}, nil
}

// Wishes are as many workers as it was made with, and Rows.
func (n *Null[K]) Wishes() Wishes { return Wishes{Workers: len(n.arenas), Rows: n.Rows} }

// Prepare compiles, and counts the arenas. Tables are made, as only the network knows what they take.
func (n *Null[K]) Prepare(batches []Batch[K], bytes int64) error {
	if _, err := n.prepare(batches, bytes); err != nil {
		return err
	}
	for _, b := range batches {
		if err := n.MakeTables(b.Key); err != nil {
			return err
		}
	}
	return nil
}

// Run looks whether the pass was prepared, and computes nothing: Fill and Collect are not called.
func (n *Null[K]) Run(p *Pass[K]) error {
	if err := n.checkWorkers(p.Batches); err != nil {
		return err
	}
	for i, b := range p.Batches {
		prog, arena := n.programs.kept(b.Key), n.arenas[b.Worker]
		if prog == nil || arena == nil || arena.Size() < prog.ArenaBytes() {
			return notPrepared(i, b)
		}
	}
	return nil
}

// Reduce sums nothing.
func (n *Null[K]) Reduce() (float64, error) { return 0, nil }

// Update changes nothing.
func (n *Null[K]) Update(AdamW) error { return nil }

// ExchangeAverages has nothing to exchange, where there are averages.
func (n *Null[K]) ExchangeAverages() error { return n.exchange() }

// Finite finds nothing.
func (n *Null[K]) Finite() (*NotFinite, error) { return nil, nil }

// Initialize has nothing to fill.
func (n *Null[K]) Initialize(uint64) error { return nil }

// Export writes as many zeros as the parameter has bytes: what a checkpoint would take is known.
func (n *Null[K]) Export(of Flat, name string, w io.Writer) error {
	_, p, err := n.part(of, name)
	if err != nil {
		return err
	}
	_, err = io.CopyN(w, zeros{}, p.Bytes())
	return err
}

// zeros is an endless stream of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Mean has nothing to average.
func (n *Null[K]) Mean(count int, load func(i int) error) (used []int, err error) {
	if err := n.trains(); err != nil {
		return nil, err
	}
	for i := range count {
		if load(i) == nil {
			used = append(used, i)
		}
	}
	return used, nil
}

// Usage is what a crew would hold.
func (n *Null[K]) Usage() Usage { return n.usage(len(n.arenas)) }

// Shrink makes arenas that are larger as small as bytes.
func (n *Null[K]) Shrink(bytes int64) { n.shrink(bytes) }

// Forget drops all programs.
func (n *Null[K]) Forget() { n.programs.Clear() }

// Measure has nothing to measure.
func (n *Null[K]) Measure(*Pass[K]) (*Costs, error) { return nil, nil }

// StartProfile has nothing to measure.
func (n *Null[K]) StartProfile() {}

// Profile is nil.
func (n *Null[K]) Profile() *Profile { return nil }

// Close takes its buffers out of the device's count.
func (n *Null[K]) Close() { n.free() }

var _ Replica[int] = (*Null[int])(nil)
