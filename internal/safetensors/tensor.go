package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Tensor is a named float32 tensor of a network in memory that need not be the host's: what is written to a file, or
// where a file is read to.
type Tensor struct {
	Name  string
	Shape []int                   // a scalar has the shape []
	Save  func(w io.Writer) error // writes all values, little-endian float32, in row-major order, in large pieces
	Load  func(r io.Reader) error // takes them in: reads them all from r, which ends after the last one
}

// chunk is how many bytes of a tensor are in flight at a time where it has to be converted. It is a multiple of every
// element size.
const chunk = 64 << 10

// Floats is a tensor in a slice of the host, row-major. Save and Load refuse a slice that isn't as long as the shape
// says.
func Floats(name string, shape []int, data []float32) Tensor {
	return Tensor{
		Name:  name,
		Shape: shape,
		Save:  func(w io.Writer) error { return writeFloats(w, shape, data) },
		Load:  func(r io.Reader) error { return readFloats(r, shape, data) },
	}
}

func writeFloats(w io.Writer, shape []int, data []float32) error {
	if err := checkLength(shape, data); err != nil {
		return err
	}
	buf := make([]byte, min(chunk, 4*len(data)))
	for len(data) > 0 {
		n := min(len(data), chunk/4)
		for i, v := range data[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
		}
		if _, err := w.Write(buf[:4*n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func readFloats(r io.Reader, shape []int, data []float32) error {
	if err := checkLength(shape, data); err != nil {
		return err
	}
	buf := make([]byte, min(chunk, 4*len(data)))
	for len(data) > 0 {
		n := min(len(data), chunk/4)
		if _, err := io.ReadFull(r, buf[:4*n]); err != nil {
			return err
		}
		for i := range data[:n] {
			data[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
		}
		data = data[n:]
	}
	return nil
}

func checkLength(shape []int, data []float32) error {
	if n, ok := product(shape, 1); !ok || n != int64(len(data)) {
		return fmt.Errorf("the shape %v doesn't fit its %d elements", shape, len(data))
	}
	return nil
}

// size is the number of bytes of a tensor's values, or an error that says why no file can hold it.
func (t Tensor) size() (int64, error) {
	if t.Name == "" || t.Name == metadataKey || !utf8.ValidString(t.Name) {
		return 0, fmt.Errorf("a tensor can't be named %q", t.Name)
	}
	if len(t.Shape) > MaxRank {
		return 0, fmt.Errorf("tensor %q has %d dimensions, and no more than %d are allowed", t.Name, len(t.Shape), MaxRank)
	}
	n, ok := product(t.Shape, 4)
	if !ok {
		return 0, fmt.Errorf("tensor %q can't have the shape %v", t.Name, t.Shape)
	}
	return n, nil
}

// product is size times all of shape, and false if a dimension is negative or the product doesn't fit an int64.
func product(shape []int, size int64) (int64, bool) {
	empty := false
	for _, n := range shape {
		if n < 0 {
			return 0, false
		}
		empty = empty || n == 0
	}
	if empty {
		return 0, true
	}
	for _, n := range shape {
		if int64(n) > math.MaxInt64/size {
			return 0, false
		}
		size *= int64(n)
	}
	return size, true
}
