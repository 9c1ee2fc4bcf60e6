package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"konkanitrain/data/archive"
	"konkanitrain/data/audio"
	"konkanitrain/data/text"
)

// entry is one line of a manifest as it is written. Its strings may be parts of a text that is read; whoever keeps one
// clones it.
type entry struct {
	id, audio, speaker string
	source             audio.Source // where the sound lies, if audio is no path
	text               string
	edits              []text.Edit // what the text policy has changed
	offset, duration   float64     // seconds; duration 0 is not stated
	odd                string      // a stated duration that is no number of seconds; "" if there is none
	part               bool        // from offset on, duration long; otherwise the whole file
	twice              []string    // keys that stand more than once in the line
	textless           bool        // there is no key for a text in the line
	null               bool        // what should be text is null, or not there
	soundless          bool        // it is only the sound that is missing
	values             []string    // of the keys that are asked for; nil where there is none
	other              choice      // another key had another text
	samples            bool        // offset and duration are in samples, not in seconds
	file               string      // where it is written
	line               int

	kind   Kind   // what is wrong with the line; "" if nothing is
	reason string // with kind
}

func (e *entry) fail(kind Kind, format string, args ...any) {
	e.kind, e.reason = kind, fmt.Sprintf(format, args...)
}

// listing is a manifest while it is read: whoever reads it gives each of its lines to take, in their order.
type listing struct {
	ctx     context.Context
	prepare func(*entry) // comes before take; of several entries at once
	take    func(*entry)
	lines   int // that were taken
	index   *archive.Index
	sounds  bool // a folder may be nothing but sound files
	texts   bool // a table needs no column for the audio

	keys  []string // whose values are asked for
	known string   // the keys that the last file has, for messages

	notes   []string // about whole files
	places  []string // folders, from base, in which audio may be too
	base    string   // the folder that paths are relative to,
	parents bool     // or one above it
}

// add prepares an entry and takes it.
func (l *listing) add(e entry) {
	l.prepare(&e)
	l.take(&e)
}

// note keeps what is said of a whole file, if anything is.
func (l *listing) note(said string) {
	if said != "" {
		l.notes = append(l.notes, said)
	}
}

// read reads a manifest of any form.
func (l *listing) read(path string) error {
	if is, err := l.archive(path); is || err != nil {
		return err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("manifest: %w%s", err, pathHint(path))
	}
	if stat.IsDir() {
		return l.readFolder(path)
	}
	return l.readFile(path)
}

// readFile reads a manifest that is one file.
func (l *listing) readFile(path string) error {
	l.base = filepath.Dir(path)
	if isKaldi(path) {
		return l.kaldi(l.base)
	}
	t, err := openText(path)
	if err != nil {
		return err
	}
	defer t.Close()
	return l.readText(t)
}

// readText reads the text of such a file.
func (l *listing) readText(t *textFile) error {
	read := formOf(t)
	if i := bytes.IndexByte(t.head[:min(len(t.head), 512)], 0); i >= 0 && !isText(t.head, read.table) {
		return fmt.Errorf("manifest %s: byte %d is 0, so this is not a text file; a manifest is %s", t.path, i+1, Forms)
	}
	take := l.take
	l.take = func(e *entry) {
		l.lines++
		take(e)
	}
	err := read.lines(l, t)
	l.note(t.note)
	if err == nil && l.lines == 0 && l.ctx.Err() == nil {
		err = fmt.Errorf("manifest %s: no line in it, %d bytes", t.path, t.bytes)
	}
	return err
}

// isText tells a text file with blocks of zeros in it, which a crash left and which are a matter of their lines, from
// another kind of file: it starts with a JSON object, perhaps behind zeros, or with a table's header.
func isText(head []byte, table bool) bool {
	if table {
		header, _, _ := bytes.Cut(head, []byte("\n"))
		return bytes.IndexByte(header, 0) < 0
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, "\x00\r\n\t "), []byte("{"))
}

// seconds reads a number of seconds, with a decimal comma or point.
func seconds(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if whole, part, comma := strings.Cut(s, ","); comma && !strings.ContainsAny(s, ".eE") {
		s = whole + "." + part
	}
	v, err := strconv.ParseFloat(s, 64)
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
