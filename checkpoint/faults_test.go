package checkpoint

import (
	"errors"
	"os"
)

// faults is the real disk, on which operations go wrong as a test wants. Folders and files aren't synced, which nothing
// but a power cut could tell and which takes long.
type faults struct {
	osDisk
	before  func(o operation) error // called before each operation, which isn't made if this is an error, but see *cut
	after   func(o operation)       // called after each that was made
	free    room                    // what it says that it has
	inSteps bool                    // two folders change names in several steps, as on systems that know no exchange

	count int // operations so far
}

// operation is something that a disk is asked for.
type operation struct {
	number int // from 1
	what   string
	from   string // of a renaming
	path   string // of a renaming: the new one
	bytes  []byte // of a write
}

// cut is the error of a write that ends after some of its bytes.
type cut struct {
	bytes int
	err   error
	then  func() // called when they are written; nil: nothing
}

func (c *cut) Error() string { return c.err.Error() }
func (c *cut) Unwrap() error { return c.err }

// do makes an operation, or what the test wants in its place.
func (d *faults) do(o operation, operate func() error) error {
	d.count++
	o.number = d.count
	if d.before != nil {
		if err := d.before(o); err != nil {
			return &os.PathError{Op: o.what, Path: o.path, Err: err}
		}
	}
	if err := operate(); err != nil {
		return err
	}
	if d.after != nil {
		d.after(o)
	}
	return nil
}

func (d *faults) Mkdir(path string) error {
	return d.do(operation{what: "mkdir", path: path}, func() error { return d.osDisk.Mkdir(path) })
}

func (d *faults) Create(path string) (f file, err error) {
	err = d.do(operation{what: "create", path: path}, func() error {
		f, err = d.osDisk.Create(path)
		return err
	})
	return &faultsFile{f, d, path}, err
}

func (d *faults) SyncDir(path string) error {
	return d.do(operation{what: "sync folder", path: path}, func() error { return nil })
}

func (d *faults) Replace(temp, final string) error {
	if d.inSteps && exists(final) {
		return exchangeInSteps(temp, final, d.Rename)
	}
	return d.do(operation{what: "replace", from: temp, path: final}, func() error { return d.osDisk.Replace(temp, final) })
}

func (d *faults) Rename(from, to string) error {
	return d.do(operation{what: "rename", from: from, path: to}, func() error { return d.osDisk.Rename(from, to) })
}

func (d *faults) Remove(path string) error {
	return d.do(operation{what: "remove", path: path}, func() error { return d.osDisk.Remove(path) })
}

func (d *faults) Reserve(path string, bytes int64) error {
	return d.do(operation{what: "reserve", path: path}, func() error { return d.osDisk.Reserve(path, bytes) })
}

func (d *faults) Free(string) room { return d.free }

type faultsFile struct {
	file
	d    *faults
	path string
}

func (f *faultsFile) Write(b []byte) (n int, err error) {
	d := f.d
	d.count++
	o := operation{number: d.count, what: "write", path: f.path, bytes: b}
	if d.before != nil {
		err = d.before(o)
	}
	var short *cut
	switch {
	case errors.As(err, &short):
		n, _ = f.file.Write(b[:short.bytes])
		if short.then != nil {
			short.then()
		}
	case err == nil:
		n, err = f.file.Write(b)
	}
	if err != nil {
		return n, &os.PathError{Op: "write", Path: f.path, Err: err}
	}
	if d.after != nil {
		d.after(o)
	}
	return n, nil
}

func (f *faultsFile) Sync() error {
	return f.d.do(operation{what: "sync", path: f.path}, func() error { return nil })
}

func (f *faultsFile) Close() error {
	closed := f.file.Close() // in any case: a test has many
	return f.d.do(operation{what: "close", path: f.path}, func() error { return closed })
}

// quick is a disk on which nothing goes wrong.
func quick() *faults { return &faults{free: unknown} }

// failing is a disk on which the operations from number at up to number until fail, a write in its middle.
func failing(at, until int, fail func() error) *faults {
	d := quick()
	d.before = func(o operation) error {
		if o.number < at || o.number > until {
			return nil
		}
		if err := fail(); err != nil && o.what == "write" {
			return &cut{bytes: len(o.bytes) / 2, err: err}
		} else if err != nil {
			return err
		}
		return nil
	}
	return d
}

// small is a disk that takes so many bytes and fails then.
func small(bytes int64, cause error) *faults {
	d := quick()
	d.before = func(o operation) error {
		n := min(int64(len(o.bytes)), bytes)
		bytes -= n
		if n < int64(len(o.bytes)) {
			return &cut{bytes: int(n), err: cause}
		}
		return nil
	}
	return d
}

// moment is when a kill comes: before an operation, in the middle of it if it is a write, or after it.
type moment int

const (
	before moment = iota
	within
	after
	moments
)

// killing is a disk that calls kill, which doesn't return, at operation number at.
func killing(at int, when moment, kill func()) *faults {
	d := quick()
	d.before = func(o operation) error {
		if o.number == at && when == within && o.what == "write" {
			return &cut{bytes: len(o.bytes) / 2, then: kill}
		}
		if o.number == at && when == before {
			kill()
		}
		return nil
	}
	d.after = func(o operation) {
		if o.number == at && when == after {
			kill()
		}
	}
	return d
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
