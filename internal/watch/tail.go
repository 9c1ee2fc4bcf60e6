package watch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// tail reads the lines of a file that grows, each once.
type tail struct {
	path string
	file os.FileInfo // as it was when it was read last; nil before
	at   int64       // where the next line begins
	mark []byte      // what stands before that, to know the file again
}

const (
	mostLine  = 4 << 20 // bytes of a line; longer ones are passed over
	markBytes = 64
	readBytes = 256 << 10
)

// next gives line each whole line that is new, without its end, and where it begins. renew is called before where the
// file is another one, or is not as it was: all that was read from it is nothing now, and it is read from its start. A
// file that isn't there is empty.
func (t *tail) next(renew func(), line func(at int64, text []byte)) error {
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.forget(renew)
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // a pipe would keep everybody waiting
		return fmt.Errorf("%s is no regular file", t.path)
	case t.file != nil && os.SameFile(info, t.file) && info.Size() == t.file.Size() && info.ModTime().Equal(t.file.ModTime()):
		return nil
	}
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return err
	}
	if !t.same(f, info) {
		t.forget(renew)
	}
	t.file = info
	return t.read(f, int(min(info.Size()-t.at+1, readBytes)), line)
}

// same says whether the file is the one that was read, with more behind it or not.
func (t *tail) same(f *os.File, info os.FileInfo) bool {
	if t.file == nil || !os.SameFile(info, t.file) || info.Size() < t.at {
		return false
	}
	now := make([]byte, len(t.mark))
	_, err := f.ReadAt(now, t.at-int64(len(now)))
	return err == nil && bytes.Equal(now, t.mark)
}

func (t *tail) forget(renew func()) {
	if t.file != nil {
		renew()
	}
	t.file, t.at, t.mark = nil, 0, nil
}

// read gives line the whole lines from t.at on, by so many bytes at first.
func (t *tail) read(f *os.File, size int, line func(at int64, text []byte)) error {
	buffer := make([]byte, 0, max(size, markBytes))
	long := false // a line that is too long is being passed over
	for {
		if len(buffer) == cap(buffer) {
			if len(buffer) < mostLine {
				buffer = append(make([]byte, 0, 2*cap(buffer)), buffer...)
			} else {
				t.at += int64(len(buffer))
				t.mark = append(t.mark[:0], buffer[len(buffer)-markBytes:]...)
				buffer, long = buffer[:0], true
			}
		}
		n, err := f.ReadAt(buffer[len(buffer):cap(buffer)], t.at+int64(len(buffer)))
		buffer = buffer[:len(buffer)+n]
		rest := buffer
		for {
			text, behind, whole := bytes.Cut(rest, []byte{'\n'})
			if !whole {
				break
			}
			if !long {
				line(t.at, text)
			}
			long = false
			t.at += int64(len(text) + 1)
			rest = behind
		}
		if used := len(buffer) - len(rest); used > 0 {
			t.mark = append(t.mark[:0], buffer[max(used-markBytes, 0):used]...)
			buffer = append(buffer[:0], rest...)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
