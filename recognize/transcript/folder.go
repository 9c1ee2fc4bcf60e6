package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NewFolder makes a writer that writes a file for each recording into a folder, where [Name] says. A file is whole or
// not there: until End its name has .partial behind it.
func NewFolder(f Format, dir string) Writer {
	return &folder{format: f, dir: dir, of: map[string]string{}}
}

// Name is the path of a recording's file below a folder: that of the recording as it was given, with the format's
// extension in place of that of sound, where leading / and .. are left out.
func Name(f Format, path string) string {
	clean := filepath.ToSlash(filepath.Clean(path))
	clean = strings.TrimPrefix(clean, filepath.VolumeName(clean))
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(clean, "/"), "../")
		if rest == clean {
			break
		}
		clean = rest
	}
	return filepath.FromSlash(withoutEnding(clean)) + f.Extension()
}

// withoutEnding is a path without the extension of a sound file. Other dots stay: names of parts have them, as
// a.wav@2.5 has.
func withoutEnding(path string) string {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus":
		if bare := path[:len(path)-len(ext)]; filepath.Base(path) != ext {
			return bare
		}
	}
	return path
}

// ErrTwice is what two recordings with one file in a folder are: one would overwrite the other.
var ErrTwice = errors.New("write one of them into another folder")

// Distinct is an error, [ErrTwice], if two of these recordings have the same file in a folder.
func Distinct(f Format, paths []string) error {
	of := make(map[string]string, len(paths))
	for _, path := range paths {
		name := Name(f, path)
		if other, twice := of[name]; twice {
			return both(name, other, path)
		}
		of[name] = path
	}
	return nil
}

func both(name, one, other string) error {
	if one == other {
		return fmt.Errorf("%s is the file of two recordings, both of them %s: %w", name, one, ErrTwice)
	}
	return fmt.Errorf("%s is the file of two recordings, %s and %s: %w", name, one, other, ErrTwice)
}

type folder struct {
	format Format
	dir    string
	of     map[string]string // the recording of each file
	writer Writer            // of the recording at hand
	file   *os.File
	name   string
}

// Begin makes the recording's file. Two recordings with one file are [ErrTwice].
func (w *folder) Begin(r Recording) error {
	path := r.Part
	if path == "" {
		path = r.Path
	}
	w.name = filepath.Join(w.dir, Name(w.format, path))
	if other, twice := w.of[w.name]; twice {
		return both(w.name, other, path)
	}
	w.of[w.name] = path
	if err := os.MkdirAll(filepath.Dir(w.name), 0o777); err != nil {
		return err
	}
	var err error
	if w.file, err = os.Create(w.name + ".partial"); err != nil {
		return err
	}
	if w.writer, err = New(w.format, w.file); err != nil {
		return err
	}
	return w.writer.Begin(r)
}

func (w *folder) Segment(s Segment) error { return w.writer.Segment(s) }

// End makes the file whole.
func (w *folder) End() error {
	err := w.writer.End()
	if e := w.writer.Close(); err == nil {
		err = e
	}
	if e := w.file.Close(); err == nil {
		err = e
	}
	w.file = nil
	if err != nil {
		return err
	}
	return os.Rename(w.name+".partial", w.name)
}

// Mark is that of the recording at hand.
func (w *folder) Mark() Mark {
	if w.file == nil {
		return Mark{}
	}
	return w.writer.Mark()
}

// Close leaves the file of a recording that has not ended as it is, with its .partial.
func (w *folder) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
