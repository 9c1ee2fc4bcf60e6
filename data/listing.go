package data

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// entry is one line of a manifest as it is written.
type entry struct {
	id, audio, speaker string
	text               string
	offset, duration   float64  // seconds; duration 0 is not stated
	odd                string   // a stated duration that is no number of seconds; "" if there is none
	part               bool     // from offset on, duration long; otherwise the whole file
	twice              []string // keys that stand more than once in the line
	file               string   // where it is written
	line               int

	kind   Kind   // what is wrong with the line; "" if nothing is
	reason string // with kind
}

func (e *entry) fail(kind Kind, format string, args ...any) {
	e.kind, e.reason = kind, fmt.Sprintf(format, args...)
}

// listing is a manifest as it is written.
type listing struct {
	entries []entry
	notes   []string // about whole files
	clips   bool     // audio may be in clips/
	folder  bool     // the manifest is a folder, and paths are relative to it
}

// list reads a manifest of any form.
func list(path string) (listing, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return listing{}, fmt.Errorf("manifest: %w%s", err, tildeHint(path))
	}
	if stat.IsDir() {
		return listKaldi(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return listing{}, fmt.Errorf("manifest: %w", err)
	}
	return listFile(path, b)
}

// listFile reads a manifest that is one file with the content b.
func listFile(path string, b []byte) (listing, error) {
	b, note, err := decode(path, b)
	if err != nil {
		return listing{}, err
	}
	extension := strings.ToLower(filepath.Ext(path))
	if i := bytes.IndexByte(b[:min(len(b), 512)], 0); i >= 0 && !isText(b, extension) {
		return listing{}, fmt.Errorf("manifest %s: byte %d is 0, so this is not a text file; "+
			"a manifest is JSON lines, CSV, TSV or a Kaldi folder",
			path, i+1)
	}
	read := listJSON
	if form, ok := tables[extension]; ok {
		read = form
	}
	l, err := read(path, b)
	if note != "" {
		l.notes = append(l.notes, note)
	}
	if err == nil && len(l.entries) == 0 {
		err = fmt.Errorf("manifest %s: no line in it, %d bytes", path, len(b))
	}
	return l, err
}

// tables are the forms of manifest that begin with a header, by the file's extension. Every other file is JSON lines.
var tables = map[string]func(path string, b []byte) (listing, error){".tsv": listTSV, ".csv": listCSV}

// isText tells a text file with blocks of zeros in it, which a crash left and which are a matter of their lines, from
// another kind of file: it starts with a JSON object, perhaps behind zeros, or with a table's header.
func isText(b []byte, extension string) bool {
	if _, table := tables[extension]; table {
		header, _, _ := bytes.Cut(b, []byte("\n"))
		return bytes.IndexByte(header, 0) < 0
	}
	return bytes.HasPrefix(bytes.TrimLeft(b, "\x00\r\n\t "), []byte("{"))
}

// seconds reads a number of seconds.
func seconds(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// state takes a duration as it is written. What is no number of seconds is only reported where the length of the file
// counts; a part needs one.
func (e *entry) state(written string) {
	v, ok := seconds(written)
	switch {
	case ok:
		e.duration = v
	case e.part && e.kind == "":
		e.fail(Broken, "duration is %s, not a number of seconds, and the part of a file that starts at an offset needs one", written)
	default:
		e.odd = written
	}
}

// checkPart refuses parts that no file can have.
func (e *entry) checkPart() {
	if e.kind == "" && e.part && !(e.offset >= 0 && e.duration >= 0 && !math.IsInf(e.offset+e.duration, 0)) {
		e.fail(Broken, "offset %v s with duration %v s: both must be 0 or more", e.offset, e.duration)
	}
}
