package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tensor is a named float32 tensor in the caller's memory, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32 // as many as the product of Shape; a scalar has the shape [] and one element
}

// Written says what a Write wrote.
type Written struct {
	Bytes  int64
	SHA256 string // of the whole file, 64 lower-case hex digits
}

// Write writes tensors as one safetensors file of type F32. Equal input gives equal bytes: tensors are in the
// order of their names, the header's keys are sorted, and spaces pad it so that the data begins at a multiple
// of 8 bytes. The data goes from the tensors' slices through a buffer of 64 KiB, so nothing is copied as a
// whole. Tensors that no file can hold (two of one name, a shape that disagrees with the data) are refused
// before the first byte is written.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) (Written, error) {
	sorted, head, err := prepare(tensors, metadata)
	if err != nil {
		return Written{}, err
	}
	sum := sha256.New()
	out := &counter{w: io.MultiWriter(w, sum)}
	if _, err := out.Write(head); err != nil {
		return Written{Bytes: out.n}, err
	}
	buf := make([]byte, chunk)
	for _, t := range sorted {
		for data := t.Data; len(data) > 0; {
			n := min(len(data), chunk/4)
			for i, v := range data[:n] {
				binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
			}
			if _, err := out.Write(buf[:4*n]); err != nil {
				return Written{Bytes: out.n}, fmt.Errorf("tensor %q: %w", t.Name, err)
			}
			data = data[n:]
		}
	}
	return Written{Bytes: out.n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// Size is the number of bytes that Write will write for the same input.
func Size(tensors []Tensor, metadata map[string]string) (int64, error) {
	sorted, head, err := prepare(tensors, metadata)
	if err != nil {
		return 0, err
	}
	size := int64(len(head))
	for _, t := range sorted {
		size += 4 * int64(len(t.Data))
	}
	return size, nil
}

// prepare checks and sorts the tensors and makes the file's first part: length, header and padding.
func prepare(tensors []Tensor, metadata map[string]string) ([]Tensor, []byte, error) {
	sorted := slices.SortedFunc(slices.Values(tensors), func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	for i, t := range sorted {
		if err := t.check(); err != nil {
			return nil, nil, err
		}
		if i > 0 && t.Name == sorted[i-1].Name {
			return nil, nil, fmt.Errorf("two tensors are named %q", t.Name)
		}
	}
	var text bytes.Buffer
	text.Write(make([]byte, 8))
	text.WriteByte('{')
	if len(metadata) > 0 {
		fmt.Fprintf(&text, "%s:{", quote(metadataKey))
		for i, k := range slices.Sorted(maps.Keys(metadata)) {
			if !utf8.ValidString(k) || !utf8.ValidString(metadata[k]) {
				return nil, nil, fmt.Errorf("metadata %q is not UTF-8", k)
			}
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, "%s:%s", quote(k), quote(metadata[k]))
		}
		text.WriteByte('}')
	}
	at := int64(0)
	for i, t := range sorted {
		if i > 0 || len(metadata) > 0 {
			text.WriteByte(',')
		}
		end := at + 4*int64(len(t.Data))
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", ",")
		fmt.Fprintf(&text, `%s:{"dtype":"F32","shape":[%s],"data_offsets":[%d,%d]}`, quote(t.Name), shape, at, end)
		at = end
	}
	text.WriteByte('}')
	for text.Len()%8 != 0 {
		text.WriteByte(' ')
	}
	head := text.Bytes()
	if len(head)-8 > MaxHeader {
		return nil, nil, fmt.Errorf("the header takes %d bytes, and readers refuse more than %d", len(head)-8, MaxHeader)
	}
	binary.LittleEndian.PutUint64(head, uint64(len(head)-8))
	return sorted, head, nil
}

// check says what is wrong with a tensor.
func (t Tensor) check() error {
	if t.Name == "" || t.Name == metadataKey || !utf8.ValidString(t.Name) {
		return fmt.Errorf("a tensor can't be named %q", t.Name)
	}
	if len(t.Shape) > MaxRank {
		return fmt.Errorf("tensor %q has %d dimensions, and no more than %d are allowed", t.Name, len(t.Shape), MaxRank)
	}
	shape := make([]int64, len(t.Shape))
	for i, n := range t.Shape {
		if n < 0 {
			return fmt.Errorf("tensor %q: shape %v has a negative dimension", t.Name, t.Shape)
		}
		shape[i] = int64(n)
	}
	if n, ok := product(shape, 1); !ok || n != int64(len(t.Data)) {
		return fmt.Errorf("tensor %q: the shape %v doesn't fit its %d elements", t.Name, t.Shape, len(t.Data))
	}
	return nil
}

// quote is s as a JSON string.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string into memory: can't go wrong
	return strings.TrimSuffix(b.String(), "\n")
}

// counter counts the bytes that went through.
type counter struct {
	w io.Writer
	n int64
}

// Write passes b on.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
