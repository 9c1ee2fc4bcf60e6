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
	if err := f.checkLength(name, info, len(dst)); err != nil {
		return err
	}
	return f.Load(Floats(name, info.Shape, dst))
}

// Floats reads a tensor as ReadFloat32 does, and returns it with its shape.
func (f *File) Floats(name string) ([]float32, []int, error) {
	return readNew(f, name, f.ReadFloat32)
}

// Float64s reads a tensor of type F64, F32, F16 or BF16 without loss, and returns it with its shape.
func (f *File) Float64s(name string) ([]float64, []int, error) {
	return readNew(f, name, func(name string, dst []float64) error {
		info, err := f.info(name)
		if err != nil {
			return err
		}
		if info.DType != F64 {
			narrow := make([]float32, len(dst))
			if err := f.ReadFloat32(name, narrow); err != nil {
				return err
			}
			for i, v := range narrow {
				dst[i] = float64(v)
			}
			return nil
		}
		return readInto(f, name, info, dst, func(b []byte, dst []float64) bool {
			for i := range dst {
				dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			}
			return true
		})
	})
}

// Ints reads a tensor of an integer type or BOOL, and returns it with its shape. A U64 beyond the range of int64 is an
// error.
func (f *File) Ints(name string) ([]int64, []int, error) {
	return readNew(f, name, func(name string, dst []int64) error {
		info, err := f.info(name)
		if err != nil {
			return err
		}
		tooLarge := false
		err = readInto(f, name, info, dst, func(b []byte, dst []int64) bool {
			size := info.DType.Size()
			for i := range dst {
				e := b[i*size:]
				switch info.DType {
				case I64:
					dst[i] = int64(binary.LittleEndian.Uint64(e))
				case U64:
					dst[i] = int64(binary.LittleEndian.Uint64(e))
					tooLarge = tooLarge || dst[i] < 0
				case I32:
					dst[i] = int64(int32(binary.LittleEndian.Uint32(e)))
				case U32:
					dst[i] = int64(binary.LittleEndian.Uint32(e))
				case I16:
					dst[i] = int64(int16(binary.LittleEndian.Uint16(e)))
				case U16:
					dst[i] = int64(binary.LittleEndian.Uint16(e))
				case I8:
					dst[i] = int64(int8(e[0]))
				case U8, Bool:
					dst[i] = int64(e[0])
				default:
					return false
				}
			}
			return true
		})
		if err == nil && tooLarge {
			return fmt.Errorf("%s: tensor %q holds a U64 that doesn't fit an int64", f.name, name)
		}
		return err
	})
}

// readNew allocates the slice that a tensor needs (the header is checked, so the file has the bytes for it).
func readNew[T any](f *File, name string, read func(string, []T) error) ([]T, []int, error) {
	info, err := f.info(name)
	if err != nil {
		return nil, nil, err
	}
	dst := make([]T, info.Len())
	if err := read(name, dst); err != nil {
		return nil, nil, err
	}
	return dst, info.Shape, nil
}

// readInto streams a tensor through a small buffer. convert turns bytes into elements and is false if it doesn't know
// the type; it is asked once before dst is touched.
func readInto[T any](f *File, name string, info Info, dst []T, convert func([]byte, []T) bool) error {
	if err := f.checkLength(name, info, len(dst)); err != nil {
		return err
	}
	var one [8]byte
	var probe [1]T
	if !convert(one[:], probe[:]) {
		return fmt.Errorf("%s: tensor %q is %s, which can't be read as %T", f.name, name, info.DType, probe[0])
	}
	size := info.DType.Size()
	buf := make([]byte, min(int64(chunk), info.Bytes))
	at := f.start + info.offset
	for len(dst) > 0 {
		n := min(len(dst), chunk/size)
		b := buf[:n*size]
		if read, err := f.r.ReadAt(b, at); read < len(b) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("%s: tensor %q: %w", f.name, name, err)
		}
		convert(b, dst[:n])
		dst = dst[n:]
		at += int64(len(b))
	}
	return nil
}

// checkLength refuses a destination of another length than the tensor's.
func (f *File) checkLength(name string, info Info, n int) error {
	if n == info.Len() {
		return nil
	}
	return fmt.Errorf("%s: tensor %q has %d elements (shape %v), the destination %d", f.name, name, info.Len(), info.Shape, n)
}
