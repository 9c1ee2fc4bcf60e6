package device_test

import (
	"slices"

	"konkanitrain/device"
)

// span is a range of addresses.
type span struct {
	from uintptr
	size int64
}

// recorder is the host's memory up to a number of bytes (0: all of it), and knows where its buffers lie, in the order
// in which they came.
type recorder struct {
	device.Device
	most  int64
	spans []span
}

type recorded struct {
	device.Buffer
	by   *recorder
	from uintptr
}

func (r *recorder) Alloc(size int64, what string) (device.Buffer, error) {
	if u := r.Usage(); r.most > 0 && u.Reserved+size > r.most {
		return nil, u.OutOfMemory(size, what, nil)
	}
	b, err := r.Device.Alloc(size, what)
	if err != nil {
		return nil, err
	}
	r.spans = append(r.spans, span{address(b), size})
	return &recorded{b, r, address(b)}, nil
}

func (b *recorded) Free() {
	b.by.spans = slices.DeleteFunc(b.by.spans, func(s span) bool { return s.from == b.from })
	b.Buffer.Free()
}
