package data

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// kaldiFile is a file of a Kaldi folder: a key and a value a line, in the order of the lines.
type kaldiFile struct {
	path   string
	keys   []string
	values map[string]kaldiValue
}

type kaldiValue struct {
	text string
	line int
}

// readKaldi reads one file of the folder. A key that stands twice is an error. note is what was odd about its encoding.
func readKaldi(folder, name string) (f kaldiFile, note string, err error) {
	f = kaldiFile{path: filepath.Join(folder, name), values: map[string]kaldiValue{}}
	t, err := openText(f.path)
	if err != nil {
		return f, "", err
	}
	defer t.Close()
	for last := 0; ; {
		n, line, err := t.line()
		if err != nil || n == 0 {
			return f, t.note, err
		}
		number := last + n
		last = number
		if bad := notText(line); bad != "" {
			return f, "", fmt.Errorf("manifest %s, line %d: %s", f.path, number, bad)
		}
		key, value := cutField(line)
		if before, twice := f.values[key]; twice {
			return f, "", fmt.Errorf("manifest %s: %s stands on lines %d and %d; ids must be unique, remove or rename one",
				f.path, key, before.line, number)
		}
		f.keys = append(f.keys, key)
		f.values[key] = kaldiValue{value, number}
	}
}

// cutField splits a line at its first run of spaces or tabs.
func cutField(line string) (key, rest string) {
	line = strings.Trim(line, " \t")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], strings.TrimLeft(line[i:], " \t")
	}
	return line, ""
}

// kaldi joins text and wav.scp (through segments where it exists) by utterance, in the order of text. The
// files may be in any order: only equality of ids counts, so neither sorting nor the locale matters.
func (l *listing) kaldi(folder string) error {
	l.parents = true
	read := func(name string, optional bool) (kaldiFile, error) {
		f, note, err := readKaldi(folder, name)
		if optional && errors.Is(err, fs.ErrNotExist) {
			return kaldiFile{}, nil
		}
		if note != "" {
			l.notes = append(l.notes, note)
		}
		return f, err
	}
	texts, err := read("text", false)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("manifest %s: a folder with wav.scp and without text; "+
			"a Kaldi folder needs text and wav.scp", folder)
	}
	scp, err2 := read("wav.scp", false)
	segments, err3 := read("segments", true)
	speakers, err4 := read("utt2spk", true)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return err
	}
	sound := scp // what has to have the ids of text
	if segments.path != "" {
		sound = segments
	}
	for _, id := range texts.keys {
		t := texts.values[id]
		e := entry{id: id, text: t.text, file: texts.path, line: t.line, speaker: speakers.values[id].text}
		if v, ok := sound.values[id]; !ok {
			e.fail(Unmatched, "not in %s", filepath.Base(sound.path))
		} else if segments.path != "" {
			e.segment(v.text, segments, scp)
		} else {
			e.recording(v.text)
		}
		l.add(e)
	}
	for _, id := range sound.keys {
		if _, ok := texts.values[id]; !ok {
			e := entry{id: id, file: sound.path, line: sound.values[id].line}
			e.fail(Unmatched, "not in text")
			l.add(e)
		}
	}
	if len(texts.keys)+len(sound.keys) == 0 {
		return fmt.Errorf("manifest %s: text and %s are empty", folder, filepath.Base(sound.path))
	}
	return nil
}

// recording takes the value of a wav.scp line.
func (e *entry) recording(value string) {
	e.audio = strings.TrimRight(value, " \t")
	switch {
	case e.audio == "":
		e.fail(Broken, "no file in wav.scp")
	case strings.HasSuffix(e.audio, "|"):
		file, ok := pipedFile(e.audio)
		if !ok {
			e.fail(Broken, "wav.scp has a command that does more than to read a file, and commands are not run: %s "+
				"write its sound to a file, and the file's name into wav.scp", e.audio)
		}
		e.audio = file
	}
}

// segment takes the value of a segments line: recording, start and end in seconds. An end of -1 is the end of
// the recording.
func (e *entry) segment(value string, segments, scp kaldiFile) {
	f := strings.Fields(value)
	if len(f) != 3 {
		e.fail(Broken, "%s: %d fields after the id; recording, start and end are needed", filepath.Base(segments.path), len(f))
		return
	}
	start, err1 := strconv.ParseFloat(f[1], 64)
	end, err2 := strconv.ParseFloat(f[2], 64)
	if err1 != nil || err2 != nil || !(start >= 0) || end != -1 && !(end > start) {
		e.fail(Broken, "%s: start %s and end %s are no part of a recording", filepath.Base(segments.path), f[1], f[2])
		return
	}
	r, ok := scp.values[f[0]]
	if !ok {
		e.fail(Unmatched, "its recording %s is not in wav.scp", f[0])
		return
	}
	e.recording(r.text)
	e.part, e.offset = true, start
	if end != -1 {
		e.duration = end - start
	}
	e.checkPart()
}
