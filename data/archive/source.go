package archive

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"konkanitrain/data/audio"
)

// file is an archive as it was when it was looked at.
type file struct {
	path       string
	size, time int64 // the time it was changed at, in ns
}

// fileOf is the state of an open file.
func fileOf(path string, h *os.File) (file, error) {
	stat, err := h.Stat()
	if err != nil {
		return file{}, err
	}
	if !stat.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s: a regular file is needed", path)
	}
	return file{path, stat.Size(), stat.ModTime().UnixNano()}, nil
}

// identity is what the index calls the file.
func (f *file) identity() (identity, error) {
	path, err := filepath.Abs(f.path)
	return identity{path, f.size, f.time}, err
}

// open opens the archive, which must have the size and time that it had.
func (f *file) open() (*os.File, error) {
	h, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	now, err := fileOf(f.path, h)
	if err == nil && now != *f {
		err = fmt.Errorf("%s: it was changed while it is in use (%s); start again", f.path, differs(f.size, now.size))
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// differs says how a file is another than it was.
func differs(then, now int64) string {
	if then == now {
		return fmt.Sprintf("its time is another, its size is %d bytes as before", now)
	}
	return fmt.Sprintf("%d bytes before, %d now", then, now)
}

// span is a recording whose bytes lie in an archive as they are.
type span struct {
	file     *file
	member   string
	at, size int64
}

func (s *span) Name() string { return s.file.path + ": " + s.member }

func (s *span) Open() (audio.Bytes, error) {
	h, err := s.file.open()
	if err != nil {
		return nil, err
	}
	return &openSpan{io.NewSectionReader(h, s.at, s.size), h}, nil
}

type openSpan struct {
	*io.SectionReader
	h *os.File
}

func (o *openSpan) Close() error { return o.h.Close() }

// openMemory is a recording's bytes that were decompressed.
type openMemory struct{ *bytes.Reader }

func (openMemory) Close() error { return nil }
