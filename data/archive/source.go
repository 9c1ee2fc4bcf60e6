package archive

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"konkanitrain/data/audio"
)

// file is an archive as it was when it was looked at.
type file struct {
	path string
	size int64
}

// open opens the archive, which must have the size it had.
func (f *file) open() (*os.File, error) {
	h, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	stat, err := h.Stat()
	if err == nil && stat.Size() != f.size {
		err = fmt.Errorf("%s: it has %d bytes, and had %d when it was indexed: it was changed while it is in use; start again",
			f.path, stat.Size(), f.size)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
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
