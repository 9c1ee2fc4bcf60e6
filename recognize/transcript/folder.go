package transcript

import (
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
// extension, where leading / and .. are left out.
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
	return filepath.FromSlash(strings.TrimSuffix(clean, filepath.Ext(clean))) + f.Extension()
}

type folder struct {
	format Format
	dir    string
	of     map[string]string // the recording of each file
	writer Writer            // of the recording at hand
	file   *os.File
	name   string
}

// Begin makes the recording's file. Two recordings with one file are an error: one would overwrite the other.
func (w *folder) Begin(r Recording) error {
	w.name = filepath.Join(w.dir, Name(w.format, r.Path))
	if other, twice := w.of[w.name]; twice {
		return fmt.Errorf("%s is the file of two recordings, %s and %s: write one of them into another folder", w.name, other, r.Path)
	}
	w.of[w.name] = r.Path
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
