package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Written says what a Write wrote.
type Written struct {
	Bytes  int64
	SHA256 string // of the whole file, 64 lower-case hex digits
}

// Write writes tensors as one safetensors file of type F32. Equal input gives equal bytes: tensors are in the order of
// their names, the header's keys are sorted, and spaces pad it so that the data begins at a multiple of 8 bytes. The
// data goes from each tensor's Save straight to w and into the checksum. Tensors that no file can hold (two of one
// name, say) are refused before the first byte is written; a Save that writes more or fewer bytes than the tensor's
// shape takes is an error.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) (Written, error) {
	p, err := prepare(tensors, metadata)
	if err != nil {
		return Written{}, err
	}
	for _, t := range p.tensors {
		if t.Save == nil {
			return Written{}, fmt.Errorf("tensor %q has no Save, so it can't be written", t.Name)
		}
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	if _, err := out.Write(p.head); err != nil {
		return Written{}, err
	}
	for i, t := range p.tensors {
		if err := t.save(out, p.sizes[i]); err != nil {
			return Written{}, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
	}
	return Written{Bytes: p.total, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// Size is the number of bytes that Write will write for the same input. No Save is called.
func Size(tensors []Tensor, metadata map[string]string) (int64, error) {
	p, err := prepare(tensors, metadata)
	return p.total, err
}

// save calls the tensor's Save and makes sure that it writes size bytes, no more and no fewer, and that no error of w
// is lost.
func (t Tensor) save(w io.Writer, size int64) error {
	out := &exactWriter{w: w, left: size}
	err := t.Save(out)
	if out.err != nil {
		return out.err
	}
	if err == nil && out.left > 0 {
		err = fmt.Errorf("its Save wrote %d bytes, and the shape %v takes %d", size-out.left, t.Shape, size)
	}
	return err
}

// exactWriter passes on as many bytes as are left. After an error it fails for good.
type exactWriter struct {
	w    io.Writer
	left int64
	err  error
}

// Write passes b on, or nothing of it where it is too much.
func (e *exactWriter) Write(b []byte) (int, error) {
	if e.err == nil && int64(len(b)) > e.left {
		e.err = errors.New("its Save writes more bytes than the shape takes")
	}
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.w.Write(b)
	e.left -= int64(n)
	e.err = err
	return n, err
}

// maxData is more data than any file has; room is left for a header, so that sizes can be added up.
const maxData = math.MaxInt64 - 1<<32

// plan is a file before its data is written.
type plan struct {
	tensors []Tensor // sorted by name
	sizes   []int64  // of their data, in bytes
	head    []byte   // the file's first part: length, header and padding
	total   int64    // bytes of the whole file
}

// prepare checks and sorts the tensors and makes the header.
func prepare(tensors []Tensor, metadata map[string]string) (p plan, err error) {
	p.tensors = slices.SortedFunc(slices.Values(tensors), func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	at := int64(0)
	for i, t := range p.tensors {
		n, err := t.size()
		if err != nil {
			return plan{}, err
		}
		if i > 0 && t.Name == p.tensors[i-1].Name {
			return plan{}, fmt.Errorf("two tensors are named %q", t.Name)
		}
		if n > maxData-at {
			return plan{}, fmt.Errorf("tensor %q: with its shape %v the file is too large for any disk", t.Name, t.Shape)
		}
		p.sizes = append(p.sizes, n)
		at += n
	}
	var text bytes.Buffer
	text.Write(make([]byte, 8))
	text.WriteByte('{')
	if len(metadata) > 0 {
		fmt.Fprintf(&text, "%s:{", quote(metadataKey))
		for i, k := range slices.Sorted(maps.Keys(metadata)) {
			if !utf8.ValidString(k) || !utf8.ValidString(metadata[k]) {
				return plan{}, fmt.Errorf("metadata %q is not UTF-8", k)
			}
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, "%s:%s", quote(k), quote(metadata[k]))
		}
		text.WriteByte('}')
	}
	p.total, at = at, 0
	for i, t := range p.tensors {
		if i > 0 || len(metadata) > 0 {
			text.WriteByte(',')
		}
		end := at + p.sizes[i]
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", ",")
		fmt.Fprintf(&text, `%s:{"dtype":"F32","shape":[%s],"data_offsets":[%d,%d]}`, quote(t.Name), shape, at, end)
		at = end
	}
	text.WriteByte('}')
	for text.Len()%8 != 0 {
		text.WriteByte(' ')
	}
	p.head = text.Bytes()
	if len(p.head)-8 > MaxHeader {
		return plan{}, fmt.Errorf("the header takes %d bytes, and readers refuse more than %d", len(p.head)-8, MaxHeader)
	}
	binary.LittleEndian.PutUint64(p.head, uint64(len(p.head)-8))
	p.total += int64(len(p.head))
	return p, nil
}

// quote is s as a JSON string.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string into memory: can't go wrong
	return strings.TrimSuffix(b.String(), "\n")
}
