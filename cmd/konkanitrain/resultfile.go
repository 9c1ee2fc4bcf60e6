package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// resultFile is a file of results that a setting names. It begins with a head, by which it is known: nothing else is
// overwritten. A file that is there stays as it is until the new one is whole.
type resultFile struct {
	setting string // that names it
	path    string // "" without one
	head    string // its first line
	w       *bufio.Writer
	file    *os.File // being written; nil before the head, and where it goes to standard output
	begun   bool
}

// partial is added to a file's name until it is whole.
const partial = ".partial"

// newResultFile is for the file called path; "-" is out, "" nothing.
func newResultFile(setting, path, head string, out io.Writer) *resultFile {
	f := &resultFile{setting: setting, path: path, head: head}
	if path == "-" {
		f.path, f.w = "", bufio.NewWriter(out)
	}
	return f
}

// free is the problem with a file that would be overwritten; nil if it isn't there, is empty or begins with the head.
func (f *resultFile) free() error {
	if f.path == "" {
		return nil
	}
	for _, name := range []string{f.path, f.path + partial} {
		stat, err := os.Stat(name)
		if err != nil || !stat.Mode().IsRegular() {
			continue
		}
		there, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("%s: %w", f.setting, err)
		}
		defer there.Close()
		head := make([]byte, len(f.head))
		if n, _ := io.ReadFull(there, head); n > 0 && string(head[:n]) != f.head {
			return fmt.Errorf("%s: %s is there and was not written by this setting, so it is not overwritten: name another file", f.setting, name)
		}
	}
	return nil
}

// wanted says whether there is anything to write to.
func (f *resultFile) wanted() bool { return f.w != nil || f.path != "" }

// begin makes the file and writes the head, once.
func (f *resultFile) begin() error {
	if f.begun {
		return nil
	}
	f.begun = true
	if f.path != "" {
		name := f.path + partial
		if stat, err := os.Lstat(f.path); err == nil && !stat.Mode().IsRegular() {
			name = f.path // a device or a pipe can't be replaced at the end
		}
		file, err := os.Create(name)
		if err != nil {
			return fmt.Errorf("%s: %w", f.setting, err)
		}
		f.w, f.file = bufio.NewWriter(file), file
	}
	_, err := f.w.WriteString(f.head)
	return err
}

// printf writes.
func (f *resultFile) printf(format string, args ...any) error {
	if err := f.begin(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(f.w, format, args...)
	return err
}

// end finishes the file, whose making came to err. One that is not whole leaves the older file alone.
func (f *resultFile) end(err error) error {
	if err == nil && f.w != nil {
		err = f.w.Flush()
	}
	if f.file == nil {
		return err
	}
	if e := f.file.Close(); err == nil {
		err = e
	}
	name := f.file.Name()
	switch {
	case name == f.path:
	case err == nil:
		err = os.Rename(name, f.path)
	default:
		_ = os.Remove(name) // err says more
	}
	return err
}
