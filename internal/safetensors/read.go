package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// ReadFloat32 reads a tensor of type F32, F16, BF16 or F64 into dst, which must have exactly its number of elements.
// F64 is rounded to the nearest float32. dst is untouched if the name, type or length is wrong.
func (f *File) ReadFloat32(name string, dst []float32) error {
	info, err := f.info(name)
	if err != nil {
		return err
	}
	if len(dst) != info.Len() {
		return fmt.Errorf("%s: tensor %q has %d elements (shape %v), the destination %d", f.name, name, info.Len(), info.Shape, len(dst))
	}
	return f.Load(Floats(name, info.Shape, dst))
}

// Floats reads a tensor as ReadFloat32 does, and returns it with its shape.
func (f *File) Floats(name string) ([]float32, []int, error) {
	return readNew(f, name, func(_ Info, dst []float32) error { return f.ReadFloat32(name, dst) })
}

// Float64s reads a tensor of type F64, F32, F16 or BF16 without loss, and returns it with its shape.
func (f *File) Float64s(name string) ([]float64, []int, error) {
	return readNew(f, name, func(info Info, dst []float64) error {
		if info.DType == F64 {
			return readInto(f, name, info, dst, func(b []byte) float64 {
				return math.Float64frombits(binary.LittleEndian.Uint64(b))
			})
		}
		narrow := make([]float32, len(dst))
		err := f.ReadFloat32(name, narrow)
		for i, v := range narrow {
			dst[i] = float64(v)
		}
		return err
	})
}

// Ints reads a tensor of an integer type or BOOL, and returns it with its shape. A U64 beyond the range of int64 is an
// error.
func (f *File) Ints(name string) ([]int64, []int, error) {
	return readNew(f, name, func(info Info, dst []int64) error {
		convert := intOf(info.DType)
		if convert == nil {
			return fmt.Errorf("%s: tensor %q is %s, which can't be read as integers", f.name, name, info.DType)
		}
		err := readInto(f, name, info, dst, convert)
		for _, v := range dst {
			if info.DType == U64 && v < 0 {
				return fmt.Errorf("%s: tensor %q holds a U64 that doesn't fit an int64", f.name, name)
			}
		}
		return err
	})
}

// intOf reads one element of an integer type or BOOL; it is nil for other types.
func intOf(t DType) func(b []byte) int64 {
	switch t {
	case I64, U64:
		return func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }
	case I32:
		return func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) }
	case U32:
		return func(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }
	case I16:
		return func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) }
	case U16:
		return func(b []byte) int64 { return int64(binary.LittleEndian.Uint16(b)) }
	case I8:
		return func(b []byte) int64 { return int64(int8(b[0])) }
	case U8, Bool:
		return func(b []byte) int64 { return int64(b[0]) }
	}
	return nil
}

// readNew allocates the slice that a tensor needs: the header is checked, so the file has the bytes for it.
func readNew[T any](f *File, name string, read func(Info, []T) error) ([]T, []int, error) {
	info, err := f.info(name)
	if err != nil {
		return nil, nil, err
	}
	dst := make([]T, info.Len())
	if err := read(info, dst); err != nil {
		return nil, nil, err
	}
	return dst, info.Shape, nil
}

// readInto reads all elements of a tensor through a small buffer.
func readInto[T any](f *File, name string, info Info, dst []T, convert func(element []byte) T) error {
	size := info.DType.Size()
	data := &exactReader{r: io.NewSectionReader(f.r, f.start+info.offset, info.Bytes), left: info.Bytes}
	buf := make([]byte, min(int64(chunk), info.Bytes))
	for len(dst) > 0 {
		n := min(len(dst), chunk/size)
		if _, err := io.ReadFull(data, buf[:n*size]); err != nil {
			return fmt.Errorf("%s: tensor %q: %w", f.name, name, err)
		}
		for i := range dst[:n] {
			dst[i] = convert(buf[i*size:])
		}
		dst = dst[n:]
	}
	return nil
}
