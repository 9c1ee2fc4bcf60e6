package audio

import (
	"fmt"
	"io"
	"os"
)

// Source is where the bytes of one recording lie: a file ([File]), a member of an archive, a value in a column. It may
// be opened by several goroutines at once.
type Source interface {
	// Name is what messages call it: a path, or an archive's path and the member's name.
	Name() string
	// Open makes the bytes readable. Errors name the source.
	Open() (Bytes, error)
}

// Bytes are the bytes of a recording, to be closed.
type Bytes interface {
	io.ReaderAt
	io.Closer
	Size() int64 // bytes
}

// File is the path of a regular file, as a Source.
type File string

// Name is the path.
func (f File) Name() string { return string(f) }

// Open opens the file. Pipes and folders are refused before they could block or confuse.
func (f File) Open() (Bytes, error) {
	stat, err := os.Stat(string(f))
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: a regular file is needed, this is %s", f, kindOf(stat.Mode()))
	}
	file, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	return &openFile{file, stat.Size()}, nil
}

type openFile struct {
	*os.File
	size int64
}

func (f *openFile) Size() int64 { return f.size }

func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeDevice != 0:
		return "a device"
	default:
		return "something else (" + m.Type().String() + ")"
	}
}
