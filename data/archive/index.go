package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Index keeps what is known of archives and of their sound, so that they are gone through once. It may be used by
// several goroutines, and its folder by several processes. What is kept of a file that has another size or time now is
// not used.
type Index struct {
	dir string // "" to keep it in memory alone

	mu     sync.Mutex
	sounds map[string]*sounds // by archive, absolute; "" has the files that are no archives
	notes  []string
	noted  map[string]bool // what was said, by file
}

// NewIndex keeps an index in a folder, which is made when there is something to keep; "" keeps it in memory alone.
func NewIndex(dir string) *Index {
	return &Index{dir: dir, sounds: map[string]*sounds{}, noted: map[string]bool{}}
}

// Notes says what of the index could not be used or kept since the last call.
func (x *Index) Notes() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	notes := x.notes
	x.notes = nil
	return notes
}

// note says something of what is kept of a file, whose list and whose sound are kept apart: once is enough.
func (x *Index) note(path, format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if what := path + ": " + format; !x.noted[what] {
		x.noted[what] = true
		x.notes = append(x.notes, fmt.Sprintf(format, args...))
	}
}

// indexMagic begins each file of an index. Its number changes with the form of what follows.
const indexMagic = "konkanitrain index 2\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// identity is a file as it was when it was looked at.
type identity struct {
	path       string // absolute
	size, time int64
}

func identify(path string) (identity, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return identity{}, err
	}
	if !stat.Mode().IsRegular() {
		return identity{}, fmt.Errorf("%s: a regular file is needed", path)
	}
	whole, err := filepath.Abs(path)
	return identity{whole, stat.Size(), stat.ModTime().UnixNano()}, err
}

// place is the file of the index for what kind of thing is kept of path.
func (x *Index) place(kind, path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(x.dir, kind+"-"+hex.EncodeToString(sum[:12]))
}

// load returns what is kept of a file; nil if there is nothing, or it is of another state of the file.
func (x *Index) load(kind string, id identity) []byte {
	if x.dir == "" {
		return nil
	}
	place := x.place(kind, id.path)
	b, err := os.ReadFile(place)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		x.note(id.path, "the index of %s can't be read, it is made anew (%v)", id.path, err)
		return nil
	}
	body, ok := bytes.CutPrefix(b, []byte(indexMagic))
	if n := len(body) - 4; !ok || n < 0 || crc32.Checksum(body[:n], castagnoli) != binary.LittleEndian.Uint32(body[n:]) {
		x.note(id.path, "the index of %s in %s is damaged or of another version, it is made anew", id.path, place)
		return nil
	}
	r := replayer{b: body[:len(body)-4]}
	was := identity{r.text(), r.number(), r.number()}
	if r.bad || was != id {
		x.note(id.path, "%s has changed since it was indexed (%s), it is indexed anew", id.path, differs(was.size, id.size))
		return nil
	}
	return r.b
}

// save keeps b of a file, in a file that is whole or not there. What can't be kept is said, and no error.
func (x *Index) save(kind string, id identity, b []byte) {
	if x.dir == "" {
		return
	}
	var r recorder
	r.text(id.path)
	r.number(id.size)
	r.number(id.time)
	sum := crc32.Update(crc32.Checksum(r, castagnoli), castagnoli, b)
	err := x.write(x.place(kind, id.path), []byte(indexMagic), r, b, binary.LittleEndian.AppendUint32(nil, sum))
	if err != nil {
		x.note(id.path, "the index of %s can't be kept, the next start indexes again (%v)", id.path, err)
	}
}

// writes tells what goroutines write at the same time apart.
var writes atomic.Int64

func (x *Index) write(place string, parts ...[]byte) error {
	if err := os.MkdirAll(x.dir, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.%d-%d.new", place, os.Getpid(), writes.Add(1)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is there after it was renamed
	for _, p := range parts {
		if _, err = f.Write(p); err != nil {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), place)
	}
	return err
}

// errEmpty is that of a file without bytes: of a set, a part is missing.
func errEmpty(path string) error {
	return fmt.Errorf("%s: 0 bytes; was it written or copied completely? Write it again, or move it away", path)
}

// opened reads an archive by use, having found out what it is.
func opened(path string, use func(h *os.File, f file, id identity) error) error {
	h, err := os.Open(path)
	if err != nil {
		return err
	}
	defer h.Close()
	f, err := fileOf(path, h)
	if err != nil {
		return err
	}
	if f.size == 0 {
		return errEmpty(path)
	}
	id, err := f.identity()
	if err != nil {
		return err
	}
	return use(h, f, id)
}

// tar lists a tar, from the index where it can.
func (x *Index) tar(ctx context.Context, path string) (t *tarball, err error) {
	err = opened(path, func(h *os.File, f file, id identity) error {
		if b := x.load("tar", id); b != nil {
			if t = replayTar(b, f); t != nil {
				return nil
			}
			x.note(id.path, "the index of %s is damaged, it is made anew", path)
		}
		var err error
		if t, err = readTar(ctx, h, f); err == nil {
			x.save("tar", id, t.record())
		}
		return err
	})
	return t, err
}

// table lists a Parquet file, from the index where it can.
func (x *Index) table(ctx context.Context, path string) (t *table, err error) {
	err = opened(path, func(h *os.File, f file, id identity) error {
		if b := x.load("parquet", id); b != nil {
			if t = replayTable(b, f); t != nil {
				return nil
			}
			x.note(id.path, "the index of %s is damaged, it is made anew", path)
		}
		var err error
		if t, err = readParquet(ctx, h, f); err == nil {
			x.save("parquet", id, t.record())
		}
		return err
	})
	return t, err
}
