// Package safetensors reads and writes the safetensors file format: eight bytes with the length of a JSON header
// (little-endian), the header, and the tensors' bytes without a gap between them.
//
// It is streaming: a tensor's bytes go straight from the file to whoever takes them in, and from whoever has them to
// the file, so that neither a save nor a load of a model holds a second copy of it. A header is believed only after it
// has been checked against the size of the file, and nothing is allocated that the file couldn't fill.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxHeader is the longest header that is read or written, in bytes. A network of ten thousand tensors whose metadata
// has a vocabulary of a hundred thousand entries stays below it, and a hostile file can't make the parser take much
// memory or time. (The reference implementation reads up to 100 MB.)
const MaxHeader = 16 << 20

// MaxRank is the largest number of dimensions of a tensor that is read.
const MaxRank = 32

// metadataKey is the header's key for free text about the file; no tensor can have it as its name.
const metadataKey = "__metadata__"

// DType is the type of a tensor's elements, as the header spells it ("F32", "I64", ...).
type DType string

// The element types of the format. F32, F64, F16, BF16 can be read as floats, the integers and BOOL as ints.
const (
	F64  DType = "F64"
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
	I64  DType = "I64"
	I32  DType = "I32"
	I16  DType = "I16"
	I8   DType = "I8"
	U64  DType = "U64"
	U32  DType = "U32"
	U16  DType = "U16"
	U8   DType = "U8"
	Bool DType = "BOOL"
)

// Size is the number of bytes of one element, or 0 for a type this package doesn't know.
func (d DType) Size() int {
	switch d {
	case F64, I64, U64:
		return 8
	case F32, I32, U32:
		return 4
	case F16, BF16, I16, U16:
		return 2
	case I8, U8, Bool, "F8_E4M3", "F8_E5M2":
		return 1
	}
	return 0
}

// Info is what the header says of one tensor, checked.
type Info struct {
	DType DType
	Shape []int // empty for a scalar; a dimension may be 0
	Bytes int64 // size of the data

	offset int64 // from the start of the data section
}

// Len is the number of elements.
func (i Info) Len() int { return int(i.Bytes / int64(i.DType.Size())) }

// header is a parsed and checked header.
type header struct {
	tensors  map[string]Info
	metadata map[string]string
}

// parseHeader reads the JSON text of a header and checks it against the size of the data section: known types, sizes
// that agree with the shapes, and tensors that cover the section exactly, without gap or overlap.
func parseHeader(text []byte, dataBytes int64) (*header, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the header is not UTF-8")
	}
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("the header doesn't start with '{'")
	}
	h := &header{tensors: map[string]Info{}, metadata: map[string]string{}}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err := object(dec, func(key string) error {
		if key == metadataKey {
			return object(dec, func(k string) error {
				v, err := token[string](dec, "a string")
				h.metadata[k] = v
				return err
			})
		}
		info, err := parseInfo(dec, dataBytes)
		h.tensors[key] = info
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("header: text after the closing '}'")
	}
	return h, h.checkCover(dataBytes)
}

// parseInfo reads the object that describes one tensor.
func parseInfo(dec *json.Decoder, dataBytes int64) (Info, error) {
	var info Info
	var offsets []int64
	seen := 0
	err := object(dec, func(key string) error {
		var err error
		seen++
		switch key {
		case "dtype":
			var s string
			s, err = token[string](dec, "a string")
			info.DType = DType(s)
		case "shape":
			info.Shape, err = numbers[int](dec)
		case "data_offsets":
			offsets, err = numbers[int64](dec)
		default:
			err = errors.New("unknown key")
		}
		return err
	})
	if err != nil {
		return info, err
	}
	if seen != 3 {
		return info, errors.New(`wants the keys "dtype", "shape" and "data_offsets"`)
	}
	size := info.DType.Size()
	if size == 0 {
		return info, fmt.Errorf("unknown dtype %q", string(info.DType))
	}
	if len(offsets) != 2 || offsets[0] > offsets[1] || offsets[1] > dataBytes {
		return info, fmt.Errorf("data_offsets %v don't lie within the file's %d bytes of data", offsets, dataBytes)
	}
	info.offset, info.Bytes = offsets[0], offsets[1]-offsets[0]
	want, ok := product(info.Shape, int64(size))
	if !ok || want != info.Bytes {
		return info, fmt.Errorf("shape %v of %s doesn't take the %d bytes of data_offsets %v", info.Shape, info.DType, info.Bytes, offsets)
	}
	return info, nil
}

// checkCover makes sure that the tensors follow one another and fill the data section.
func (h *header) checkCover(dataBytes int64) error {
	names := slices.SortedFunc(maps.Keys(h.tensors), func(a, b string) int {
		x, y := h.tensors[a], h.tensors[b]
		return cmp.Or(cmp.Compare(x.offset, y.offset), cmp.Compare(x.Bytes, y.Bytes), cmp.Compare(a, b))
	})
	at := int64(0)
	for _, name := range names {
		info := h.tensors[name]
		if info.offset < at {
			return fmt.Errorf("tensor %q overlaps the one before it: starts at byte %d of the data, before %d", name, info.offset, at)
		}
		if info.offset > at {
			return fmt.Errorf("gap before tensor %q: it starts at byte %d of the data, not at %d", name, info.offset, at)
		}
		at += info.Bytes
	}
	if at != dataBytes {
		return fmt.Errorf("the tensors take %d bytes, but the file has %d bytes of data", at, dataBytes)
	}
	return nil
}

// object reads a JSON object and calls value with each key, which has to read the value. A key that occurs twice is an
// error: readers would disagree about which one counts.
func object(dec *json.Decoder, value func(key string) error) error {
	if err := delim(dec, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for dec.More() {
		key, err := token[string](dec, "a key")
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("the key %q occurs twice", key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
	}
	return delim(dec, '}')
}

// numbers reads a list of at most MaxRank whole numbers, none negative.
func numbers[T int | int64](dec *json.Decoder) ([]T, error) {
	if err := delim(dec, '['); err != nil {
		return nil, err
	}
	list := []T{}
	for dec.More() {
		n, err := token[json.Number](dec, "a number")
		if err != nil {
			return nil, err
		}
		v, err := strconv.ParseInt(string(n), 10, 64)
		if err != nil || v < 0 || int64(T(v)) != v {
			return nil, fmt.Errorf("%.40s is not a size", string(n))
		}
		if len(list) == MaxRank {
			return nil, fmt.Errorf("more than %d entries", MaxRank)
		}
		list = append(list, T(v))
	}
	return list, delim(dec, ']')
}

// delim reads one bracket or brace.
func delim(dec *json.Decoder, want json.Delim) error {
	got, err := token[json.Delim](dec, "'"+want.String()+"'")
	if err == nil && got != want {
		err = fmt.Errorf("%v where '%v' belongs", got, want)
	}
	return err
}

// token reads one JSON token, which has to be of type T.
func token[T any](dec *json.Decoder, what string) (T, error) {
	tok, err := dec.Token()
	v, ok := tok.(T)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if tok == nil {
		tok = "null"
	}
	if err == nil && !ok {
		err = fmt.Errorf("%.40s where %s belongs", fmt.Sprint(tok), what)
	}
	return v, err
}
