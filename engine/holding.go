package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"konkanitrain/device"
	"konkanitrain/op"
)

// programsKept is the number of programs that a replica keeps, unless a pass or a look at prices asks for more at once.
const programsKept = 96

// holding is what every kind of replica has: a network, its programs, and buffers on a device.
type holding[K comparable] struct {
	net      Network[K]
	dev      device.Device
	layout   *Layout
	programs Cache[K]
	train    bool

	weights device.Buffer
	moments [2]device.Buffer // nil without training
	grads   []device.Buffer  // of each worker; nil without training
	arenas  []device.Buffer  // of each worker; nil before the first Prepare
}

// hold allocates weights, and with train gradients for each worker and both moments, all zeros.
func hold[K comparable](dev device.Device, net Network[K], workers int, train bool) (*holding[K], error) {
	if workers < 1 {
		return nil, fmt.Errorf("a replica of %d workers, want 1 or more", workers)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("this processor is big-endian: konkanitrain runs on little-endian ones only")
	}
	layout, err := NewLayout(net.Parameters())
	if err != nil {
		return nil, err
	}
	h := &holding[K]{net: net, dev: dev, layout: layout, train: train, arenas: make([]device.Buffer, workers)}
	h.programs = Cache[K]{Limit: programsKept, Build: h.compile}
	alloc := func(what string) (b device.Buffer) {
		if err == nil {
			b, err = dev.Alloc(layout.Bytes, what)
		}
		return b
	}
	h.weights = alloc("weights")
	if train {
		h.grads = make([]device.Buffer, workers)
		for i := range h.grads {
			h.grads[i] = alloc(fmt.Sprintf("gradients of worker %d", i))
		}
		h.moments = [2]device.Buffer{alloc("first moments"), alloc("second moments")}
	}
	if err != nil {
		h.free()
		return nil, err
	}
	return h, nil
}

func (h *holding[K]) compile(key K) (*Program, error) {
	spec, err := h.net.Spec(key)
	if err != nil {
		return nil, err
	}
	return Compile(spec)
}

// free gives all buffers back.
func (h *holding[K]) free() {
	for _, list := range [][]device.Buffer{{h.weights}, h.moments[:], h.grads, h.arenas} {
		for i, b := range list {
			if b != nil {
				b.Free()
			}
			list[i] = nil
		}
	}
	h.weights = nil
}

// Prices are what programs take.
func (h *holding[K]) Prices(keys []K) ([]Price, error) {
	h.programs.Limit = max(h.programs.Limit, len(keys))
	programs, err := h.programs.GetAll(keys)
	if err != nil {
		return nil, err
	}
	prices := make([]Price, len(programs))
	for i, p := range programs {
		prices[i] = Price{Bytes: p.ArenaBytes(), FLOPs: p.FLOPs()}
	}
	return prices, nil
}

// reserve makes every arena at least so many bytes large. moved says that at least one is another now. After an error
// arenas have the size that they had.
func (h *holding[K]) reserve(bytes int64) (moved bool, err error) {
	for i, old := range h.arenas {
		if old != nil && old.Size() >= bytes {
			continue
		}
		what := fmt.Sprintf("arena of worker %d", i)
		var size int64
		if old != nil { // it is given back first: both may be too much
			size = old.Size()
			old.Free()
		}
		moved = true
		if h.arenas[i], err = h.dev.Alloc(bytes, what); err == nil {
			continue
		}
		h.arenas[i] = nil
		if old != nil {
			b, again := h.dev.Alloc(size, what)
			if again != nil {
				return moved, errors.Join(err, again)
			}
			h.arenas[i] = b
		}
		return moved, err
	}
	return moved, nil
}

// flat is one of the flat buffers.
func (h *holding[K]) flat(of Flat) (device.Buffer, error) {
	switch {
	case of == Weights:
		return h.weights, nil
	case of > SecondMoments:
		return nil, fmt.Errorf("there is no flat buffer %d", of)
	case !h.train:
		return nil, errors.New("this replica was not made for training: it has no moments")
	}
	return h.moments[of-FirstMoments], nil
}

// part is where a parameter lies in one of the flat buffers.
func (h *holding[K]) part(of Flat, name string) (device.Buffer, Placed, error) {
	b, err := h.flat(of)
	if err != nil {
		return nil, Placed{}, err
	}
	p, ok := h.layout.Find(name)
	if !ok {
		return nil, p, fmt.Errorf("the network has no parameter %s", name)
	}
	return b, p, nil
}

// Export writes one parameter's part of a flat buffer.
func (h *holding[K]) Export(of Flat, name string, w io.Writer) error {
	b, p, err := h.part(of, name)
	if err != nil {
		return err
	}
	if host := b.Host(); host != nil {
		_, err = w.Write(host[p.Offset:][:p.Bytes()])
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(b, p.Offset, p.Bytes()))
	return err
}

// Import is the way back.
func (h *holding[K]) Import(of Flat, name string, r io.Reader) error {
	b, p, err := h.part(of, name)
	if err != nil {
		return err
	}
	if host := b.Host(); host != nil {
		_, err = io.ReadFull(r, host[p.Offset:][:p.Bytes()])
	} else {
		_, err = io.CopyN(io.NewOffsetWriter(b, p.Offset), r, p.Bytes())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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
	return Usage{
		Weights: sum(h.weights), Gradients: sum(h.grads...), Moments: sum(h.moments[:]...), Arenas: sum(h.arenas...),
		Workspaces: int64(workspaces) * op.WorkspaceBytes, Tables: h.net.TableBytes(),
	}
}
