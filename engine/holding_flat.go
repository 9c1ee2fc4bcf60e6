package engine

import (
	"errors"
	"fmt"
	"io"

	"konkanitrain/device"
)

// flat is one of the flat buffers.
func (h *holding[K]) flat(of Flat) (device.Buffer, error) {
	if of == Weights {
		return h.weights, h.usable()
	}
	err := h.trains()
	switch {
	case of > Gradients:
		return nil, fmt.Errorf("there is no flat buffer %d", of)
	case err != nil:
		return nil, err
	case of == Averages && h.averages == nil:
		return nil, errNoAverages
	case of == Averages:
		return h.averages, nil
	case of == Gradients && h.gradient == nil:
		return nil, errors.New("there is no gradient: nothing was learned since the last pass")
	case of == Gradients:
		return h.gradient, nil
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
	if of != Weights && p.Frozen {
		return nil, p, fmt.Errorf("%s is frozen: it has no gradient, no moments and no average", name)
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
	if of == Gradients {
		return errors.New("gradients are computed, and can't be imported")
	}
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
		return fmt.Errorf("reading %s, %d bytes: %w", name, p.Bytes(), err)
	}
	return nil
}
