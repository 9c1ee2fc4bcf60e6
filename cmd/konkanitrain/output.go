package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/settings"
)

// writable makes a folder and is the problem with writing to it, found now and not at the first save.
func writable(key, dir string) error {
	err := checkpoint.MakeDir(dir)
	if err == nil {
		err = tryWriting(dir)
	}
	if err != nil {
		return settings.Problemf(key, "%s: nothing can be written there: %w", key, err)
	}
	return nil
}

// tryWriting makes a file in a folder and removes it.
func tryWriting(dir string) error {
	try := filepath.Join(dir, ".konkanitrain-writable") // one name: what a kill leaves here goes at the next start
	f, err := os.Create(try)
	if err != nil {
		return err
	}
	err = f.Close()
	if e := os.Remove(try); !errors.Is(e, fs.ErrNotExist) { // else another run began here at the same time
		err = errors.Join(err, e)
	}
	return err
}

// creatable is the problem with writing the file at path, if one is wanted, found now and not when all is done. Its
// folder has to be there. What is no file, such as a pipe, isn't tried.
func creatable(key, path string) error {
	stat, err := os.Stat(path)
	switch {
	case path == "" || path == "-" || err == nil && !stat.IsDir() && !stat.Mode().IsRegular():
		return nil
	case err == nil && stat.IsDir():
		return settings.Problemf(key, "%s: %s is a folder: name a file", key, path)
	}
	dir := filepath.Dir(path)
	if _, err = os.Stat(dir); err == nil {
		err = tryWriting(dir)
	}
	if err != nil {
		return settings.Problemf(key, "%s: %s can't be written: %w", key, path, err)
	}
	return nil
}

// makeable is creatable of a file whose folder is made where it isn't there.
func makeable(key, path string) error {
	if dir := filepath.Dir(path); path != "" && !isFolder(dir) {
		if err := writable(key, dir); err != nil {
			return err
		}
	}
	return creatable(key, path)
}

// writeWhole writes a file that a setting names: whole, or, after an error, not at all. What is no file, such as a
// pipe, is written as it is.
func writeWhole(key, path string, fill func(io.Writer) error) error {
	write := checkpoint.ReplaceFile
	if stat, err := os.Lstat(path); err == nil && !stat.Mode().IsRegular() {
		write = writeInto
	}
	if err := write(path, fill); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// writeInto writes to what is there.
func writeInto(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

// writeBytes is writeWhole of these bytes.
func writeBytes(key, path string, b []byte) error {
	return writeWhole(key, path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}
