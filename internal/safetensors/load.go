package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Load hands the values of the tensor of t's name to t.Load, as little-endian float32 in row-major order. The file's
// may be F32, F16, BF16, or F64, which is rounded to the nearest float32; the shape has to be t's. t.Load isn't called
// if name, shape or type is wrong. It is an error if it leaves some of the values unread.
func (f *File) Load(t Tensor) error {
	info, err := f.info(t.Name)
	if err != nil {
		return err
	}
	if !slices.Equal(info.Shape, t.Shape) {
		return fmt.Errorf("%s: tensor %q has the shape %v, the destination %v", f.name, t.Name, info.Shape, t.Shape)
	}
	if t.Load == nil {
		return fmt.Errorf("%s: tensor %q: the destination has no Load", f.name, t.Name)
	}
	values, ok := f.values(info)
	if !ok {
		return fmt.Errorf("%s: tensor %q is %s, which can't be read as float32", f.name, t.Name, info.DType)
	}
	in := &exactReader{r: values, left: 4 * int64(info.Len())}
	err = t.Load(in)
	if in.err != nil {
		err = in.err
	}
	if err == nil && in.left > 0 {
		err = fmt.Errorf("%d of its bytes were not taken in", in.left)
	}
	if err != nil {
		return fmt.Errorf("%s: tensor %q: %w", f.name, t.Name, err)
	}
	return nil
}

// values is a tensor's data as float32, or false if its type isn't one of floats.
func (f *File) values(info Info) (io.Reader, bool) {
	data := io.NewSectionReader(f.r, f.start+info.offset, info.Bytes)
	switch info.DType {
	case F32:
		return data, true
	case F64:
		return &converter{data: data, size: 8, convert: func(b []byte) float32 {
			return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}}, true
	case F16:
		return &converter{data: data, size: 2, convert: func(b []byte) float32 {
			return halfToFloat(binary.LittleEndian.Uint16(b))
		}}, true
	case BF16:
		return &converter{data: data, size: 2, convert: func(b []byte) float32 {
			return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
		}}, true
	}
	return nil, false
}

// converter reads elements of another type as float32.
type converter struct {
	data    io.Reader
	size    int // of an element, in bytes
	convert func([]byte) float32
	in, out []byte
	ready   []byte // the part of out that hasn't been read yet
}

// Read gives the next values, and io.EOF when data ends between two elements.
func (c *converter) Read(b []byte) (int, error) {
	if len(c.ready) == 0 {
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// fill converts the next elements, as many as a chunk holds.
func (c *converter) fill() error {
	if c.in == nil {
		c.in, c.out = make([]byte, chunk/4*c.size), make([]byte, chunk)
	}
	n, err := io.ReadFull(c.data, c.in)
	if err == io.ErrUnexpectedEOF && n%c.size == 0 {
		err = nil // the last ones
	}
	if err != nil {
		return err
	}
	for i := range n / c.size {
		binary.LittleEndian.PutUint32(c.out[4*i:], math.Float32bits(c.convert(c.in[i*c.size:])))
	}
	c.ready = c.out[:n/c.size*4]
	return nil
}

// exactReader is a stream of as many bytes as are left. If it ends before, or fails, it fails for good.
type exactReader struct {
	r    io.Reader
	left int64
	err  error // not io.EOF
}

// Read reads what is left, and is io.EOF after that.
func (e *exactReader) Read(b []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(b)
	e.left -= int64(n)
	switch {
	case e.left == 0:
		err = nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	e.err = err
	return n, err
}

// halfToFloat converts an IEEE 754 binary16 number; every one of them is a float32 exactly.
func halfToFloat(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp := uint32(h>>10) & 31
	frac := uint32(h) & 1023
	switch exp {
	case 0: // zero and the subnormals, frac * 2^-24
		v := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}
