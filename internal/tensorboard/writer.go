package tensorboard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names of files are "events.out.tfevents.SECONDS.konkanitrain": those with another end are other programs'.
const (
	namePrefix = "events.out.tfevents."
	nameSuffix = ".konkanitrain"
	program    = "konkanitrain"
)

// writerName is what the first event of a file says of whose it is.
func writerName(run string) string { return strings.TrimSpace(program + " " + run) }

// Writer writes a session's file. Each call is one write to the file, so that who reads it sees it at once.
type Writer struct {
	file *os.File
	wall float64 // of the last event
	data []byte
}

// OtherRunError says that a folder holds the files of another run: TensorBoard would show both as one.
type OtherRunError struct{ Folder, File, Run string }

// Error names the folder, one of the files, and the run.
func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s holds event files of another run (%s, %s), and TensorBoard shows a folder as one run: choose another folder",
		e.Folder, e.File, e.Run)
}

// Create makes a file in a folder, behind those that are there. run tells whose it is, "" in a folder that no other run
// uses. The session goes on behind step before: -1 for one that begins. What was written of later steps doesn't count.
func Create(dir, run string, before int) (*Writer, error) {
	at := time.Now().Unix()
	names, err := own(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var there int64
		if _, err := fmt.Sscanf(name, namePrefix+"%d"+nameSuffix, &there); err == nil {
			at = max(at, there+1)
		}
		path := filepath.Join(dir, name)
		if of, err := writerOf(path); err == nil && of != writerName(run) {
			return nil, &OtherRunError{Folder: dir, File: name, Run: strings.TrimPrefix(of, program+" ")}
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s%010d%s", namePrefix, at, nameSuffix)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f}
	if err := w.write(&Event{Version: formatVersion, Writer: writerName(run)}, &Event{Step: int64(before) + 1, Start: true}); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// own are the names of this program's files in a folder, in the order in which they are read.
func own(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, namePrefix) && strings.HasSuffix(name, nameSuffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// writerOf is whose a file is.
func writerOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	e, err := NewReader(f).Next()
	if err != nil {
		return "", err
	}
	return e.Writer, nil
}

// write writes events in one piece. The times of a file never go back, as a clock may.
func (w *Writer) write(list ...*Event) error {
	w.data = w.data[:0]
	for _, e := range list {
		w.wall = max(w.wall, float64(time.Now().UnixMilli())/1000)
		e.Wall = w.wall
		w.data = appendRecord(w.data, e.marshal())
	}
	_, err := w.file.Write(w.data)
	if cap(w.data) > 1<<16 { // after an image
		w.data = nil
	}
	return err
}

// Show writes what there is to see of a step.
func (w *Writer) Show(step int, values ...Value) error {
	if len(values) == 0 {
		return nil
	}
	return w.write(&Event{Step: int64(step), Values: values})
}

// Name is the file's path.
func (w *Writer) Name() string { return w.file.Name() }

// Sync makes what is written durable.
func (w *Writer) Sync() error { return w.file.Sync() }

// Close ends the writing.
func (w *Writer) Close() error { return w.file.Close() }

// Scalar is a point of a curve.
func Scalar(tag string, x float64) Value {
	y := float32(x)
	return Value{Tag: tag, Scalar: &y}
}

// Text is a text in Markdown.
func Text(tag, markdown string) Value { return Value{Tag: tag, Text: &markdown} }

// Histo is a histogram.
func Histo(tag string, h *Histogram) Value { return Value{Tag: tag, Histo: h.Buckets()} }

// Picture is an image.
func Picture(tag string, image Image) Value { return Value{Tag: tag, Image: &image} }

// Forget removes from a run's files in a folder what gone names by its tag and step, and ends that were torn off or are
// damaged; replace gives a file a new content, which fill writes, in one step. removed counts the values. Files of
// other runs, and files that lose nothing, stay as they are.
func Forget(dir, run string, gone func(tag string, step int) bool, replace func(path string, fill func(io.Writer) error) error) (removed int, err error) {
	names, err := own(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if of, failed := writerOf(path); failed != nil || of != writerName(run) {
			continue
		}
		n, failed := forgetIn(path, gone, replace)
		removed += n
		err = errors.Join(err, failed)
	}
	return removed, err
}

// forgetIn removes from one file.
func forgetIn(path string, gone func(tag string, step int) bool, replace func(path string, fill func(io.Writer) error) error) (removed int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var kept []span // of the file
	in, whole := NewReader(f), false
	for {
		at := in.At()
		e, err := in.Next()
		if err != nil {
			whole = err == io.EOF
			break
		}
		lost := slices.ContainsFunc(e.Values, func(v Value) bool { return gone(v.Tag, int(e.Step)) })
		switch {
		case lost:
			removed += len(e.Values)
		case len(kept) > 0 && kept[len(kept)-1].end == at:
			kept[len(kept)-1].end = in.At()
		default:
			kept = append(kept, span{at, in.At()})
		}
	}
	if removed == 0 && whole {
		return 0, nil
	}
	return removed, replace(path, func(w io.Writer) error {
		for _, s := range kept {
			if _, err := io.Copy(w, bufio.NewReader(io.NewSectionReader(f, s.start, s.end-s.start))); err != nil {
				return err
			}
		}
		return nil
	})
}

// span is a stretch of a file, in bytes.
type span struct{ start, end int64 }
