package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"konkanitrain/device"
	"konkanitrain/op"
)

// holding is what every kind of replica has: a network, its programs, and buffers on a device.
type holding[K comparable] struct {
	*Library[K]
	dev    device.Device
	layout *Layout
	train  bool
	closed bool
	broken *BrokenError // of an update that ended in its middle; nil: weights and moments are sound

	weights  device.Buffer
	moments  [2]device.Buffer // nil without training
	averages device.Buffer    // of the weights that are learned; nil without training, and where nobody wants them
	grads    []device.Buffer  // of each worker; nil without training
	arenas   []device.Buffer  // of each worker, all of one size; nil before the first Prepare

	exchanged bool          // weights and averages have changed places
	gradient  device.Buffer // of grads: where that of the last update is; nil where there is none

	extra *cardMemory // what a card holds beside; nil on the host
}

// hold allocates weights, and with train gradients for each worker, both moments of what is learned and its averages,
// all zeros; and on a card what only a card has.
func hold[K comparable](dev device.Device, lib *Library[K], workers int, train bool, card *cardMemory) (*holding[K], error) {
	if workers < 1 {
		return nil, fmt.Errorf("a replica of %d workers, want 1 or more", workers)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("this processor is big-endian: konkanitrain runs on little-endian ones only")
	}
	layout, err := NewLayout(lib.net.Parameters())
	if err != nil {
		return nil, err
	}
	h := &holding[K]{Library: lib, dev: dev, layout: layout, train: train, arenas: make([]device.Buffer, workers), extra: card}
	if train && layout.Learned == 0 && layout.Bytes > 0 {
		return nil, errors.New("all parameters are frozen: there is nothing to train")
	}
	alloc := func(what string, bytes int64) (b device.Buffer) {
		if err == nil {
			b, err = dev.Alloc(bytes, what)
		}
		return b
	}
	h.weights = alloc("weights", layout.Bytes)
	if train {
		h.grads = make([]device.Buffer, workers)
		for i := range h.grads {
			h.grads[i] = alloc(fmt.Sprintf("gradients of worker %d", i), layout.Learned)
		}
		h.moments = [2]device.Buffer{alloc("first moments", layout.Learned), alloc("second moments", layout.Learned)}
		if lib.net.Averages() {
			h.averages = alloc("averages of weights", layout.Learned)
		}
	}
	if err == nil && card != nil {
		err = card.alloc(dev, layout, train, h.averages != nil)
	}
	if err != nil {
		h.free()
		return nil, err
	}
	return h, nil
}

// free gives all buffers back. From then on whatever needs them is an error.
func (h *holding[K]) free() {
	h.closed = true
	for _, list := range [][]device.Buffer{{h.weights, h.averages}, h.moments[:], h.grads, h.arenas} {
		freeAll(list)
	}
	h.weights, h.averages, h.gradient = nil, nil, nil
	if h.extra != nil {
		h.extra.free()
	}
}

func freeAll(list []device.Buffer) {
	for i, b := range list {
		if b != nil {
			b.Free()
		}
		list[i] = nil
	}
}

// usable is an error after Close, and after an update that ended in its middle.
func (h *holding[K]) usable() error {
	if h.closed {
		return errors.New("this replica is closed: its memory is given back")
	}
	if h.broken != nil {
		return h.broken
	}
	return nil
}

// trains is an error where there are no moments.
func (h *holding[K]) trains() error {
	if !h.train {
		return errors.New("this replica was not made for training: it has no moments")
	}
	return h.usable()
}

// learns is an error where no update can be made.
func (h *holding[K]) learns() error {
	if h.exchanged {
		return errors.New("weights and averages have changed places: there is no update until they have done so again")
	}
	return h.trains()
}

var errNoAverages = errors.New("this replica keeps no averages of its weights")

// exchange is an error where there are no averages; else it notes that weights and averages change places.
func (h *holding[K]) exchange() error {
	if err := h.trains(); err != nil {
		return err
	}
	if h.averages == nil {
		return errNoAverages
	}
	h.exchanged = !h.exchanged
	return nil
}

// checkWorkers refuses batches for a worker that isn't there.
func (h *holding[K]) checkWorkers(batches []Batch[K]) error {
	for i, b := range batches {
		if b.Worker < 0 || b.Worker >= len(h.arenas) {
			return fmt.Errorf("batch %d, %+v, is for worker %d: there are workers 0 to %d", i, b.Key, b.Worker, len(h.arenas)-1)
		}
	}
	return nil
}

// prepare compiles what batches need and makes every arena large enough for it, and for so many bytes at least. moved
// says that the arenas are others now, which may be so after an error too.
func (h *holding[K]) prepare(batches []Batch[K], bytes int64) (moved bool, err error) {
	if err := h.usable(); err != nil {
		return false, err
	}
	if err := h.checkWorkers(batches); err != nil {
		return false, err
	}
	h.programs.Limit = max(h.programs.Limit, len(batches)) // none of this pass may be dropped before it has run
	for _, b := range batches {
		p, err := h.programs.Get(b.Key)
		if err != nil {
			return false, err
		}
		bytes = max(bytes, p.ArenaBytes())
	}
	if h.arenas[0] != nil && h.arenas[0].Size() >= bytes {
		return false, nil
	}
	return true, h.reserve(bytes)
}

// reserve makes all arenas anew. The old ones are given back first: both may be too much. After an error arenas have
// the size that they had.
func (h *holding[K]) reserve(bytes int64) error {
	old := int64(-1)
	if h.arenas[0] != nil {
		old = h.arenas[0].Size()
	}
	err := h.allocArenas(bytes)
	if err != nil && old >= 0 {
		err = errors.Join(err, h.allocArenas(old))
	}
	return err
}

// allocArenas puts arenas of a size in the place of those that are there. After an error there are none.
func (h *holding[K]) allocArenas(bytes int64) (err error) {
	freeAll(h.arenas)
	h.dev.Trim() // arenas of another size are no use to the new ones
	for i := range h.arenas {
		if h.arenas[i], err = h.dev.Alloc(bytes, fmt.Sprintf("arena of worker %d", i)); err != nil {
			h.arenas[i] = nil
			freeAll(h.arenas)
			return err
		}
	}
	return nil
}

// Room is the most bytes that each arena can have beside what else the device holds now.
func (h *holding[K]) Room() int64 {
	u := h.dev.Usage()
	if u.Limit == 0 {
		return math.MaxInt64
	}
	rest := u.Limit - u.Held - (u.Allocated - h.usage(0).Arenas)
	return max(0, rest/int64(len(h.arenas))/align*align)
}

// MakeTables makes the tables of constants that a program reads.
func (h *holding[K]) MakeTables(key K) error {
	p, err := h.programs.Get(key)
	if err != nil {
		return err
	}
	for _, s := range p.Steps {
		for _, in := range s.In {
			if in.Space == Shared {
				h.net.Table(in.Name, in.Type.Shape)
			}
		}
	}
	if h.extra == nil {
		return nil
	}
	_, err = h.extra.keepTables(h.dev, h.net.Tables())
	return err
}

// Trim gives the device's idle memory and the Go heap's idle pages back to the system. Arenas stay: the next pass needs
// them.
func (h *holding[K]) Trim() {
	h.dev.Trim()
	debug.FreeOSMemory()
}

// shrink makes arenas that are larger as small as bytes, and says whether it has.
func (h *holding[K]) shrink(bytes int64) bool {
	if h.arenas[0] == nil || h.arenas[0].Size() <= bytes {
		return false
	}
	freeAll(h.arenas)
	_ = h.allocArenas(bytes) // where there is no memory even for these, the next Prepare says so
	return true
}

// usage is what the buffers take, with a BLAS workspace for each of so many workers.
func (h *holding[K]) usage(workspaces int) Usage {
	sum := func(buffers ...device.Buffer) (n int64) {
		for _, b := range buffers {
			if b != nil {
				n += b.Size()
			}
		}
		return n
	}
	u := Usage{
		Weights: sum(h.weights), Gradients: sum(h.grads...), Moments: sum(h.moments[:]...), Averages: sum(h.averages), Arenas: sum(h.arenas...),
		Workspaces: int64(workspaces) * op.WorkspaceBytes, Tables: h.net.TableBytes(),
	}
	if h.extra != nil {
		u.Weights += sum(h.extra.halves)
		u.Workspaces += sum(h.extra.small, h.extra.flags, h.extra.scratch)
		u.Tables = sum(h.extra.tables...)
	}
	return u
}
