package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// File is an open safetensors file. Its header has been checked; the tensors stay on disk until they are read.
// Reading is safe from several goroutines.
type File struct {
	name   string
	r      io.ReaderAt
	closer io.Closer
	start  int64 // where the data section begins
	header *header
}

// Open opens a file and checks its header. The error of a damaged file names the file and what disagrees.
func Open(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := open(path, r)
	if err != nil {
		r.Close()
		return nil, err
	}
	f.closer = r
	return f, nil
}

func open(path string, r *os.File) (*File, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	return New(path, r, size)
}

// New reads the header of the size bytes of r. name is for errors only.
func New(name string, r io.ReaderAt, size int64) (*File, error) {
	var prefix [8]byte
	if size < int64(len(prefix)) {
		return nil, fmt.Errorf("%s: not a safetensors file: %d bytes, and the shortest has 10", name, size)
	}
	if n, err := r.ReadAt(prefix[:], 0); n < len(prefix) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > MaxHeader || int64(length) > size-8 {
		var first [1]byte
		if n, _ := r.ReadAt(first[:], 8); n == 1 && first[0] != '{' {
			return nil, fmt.Errorf("%s: not a safetensors file: it begins with %q, and no header follows (one of %d bytes is announced, the limit is %d)",
				name, prefix, length, MaxHeader)
		}
		return nil, fmt.Errorf("%s: not a whole safetensors file: a header of %d bytes is announced in a file of %d (limit %d)",
			name, length, size, MaxHeader)
	}
	text := make([]byte, length)
	if n, err := r.ReadAt(text, 8); n < len(text) {
		return nil, fmt.Errorf("%s: header: %w", name, err)
	}
	start := 8 + int64(length)
	h, err := parseHeader(text, size-start)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &File{name: name, r: r, start: start, header: h}, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Names lists the tensors, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.header.tensors)) }

// Info describes a tensor, and is false if the file has none of that name.
func (f *File) Info(name string) (Info, bool) {
	info, ok := f.header.tensors[name]
	info.Shape = slices.Clone(info.Shape)
	return info, ok
}

// Metadata is the file's free text: settings, names of cases. It is empty, never nil, if the file has none.
func (f *File) Metadata() map[string]string { return maps.Clone(f.header.metadata) }

// info finds a tensor or says which file lacks it.
func (f *File) info(name string) (Info, error) {
	info, ok := f.Info(name)
	if !ok {
		return info, fmt.Errorf("%s: no tensor %q", f.name, name)
	}
	return info, nil
}
