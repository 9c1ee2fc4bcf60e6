package data

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// cutField splits a line at its first run of spaces or tabs.
func cutField(line string) (key, rest string) {
	line = strings.Trim(line, " \t")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], strings.TrimLeft(line[i:], " \t")
	}
	return line, ""
}

// isKaldi says whether a file is named that is one of a Kaldi folder: then the folder is meant.
func isKaldi(path string) bool {
	folder, name := filepath.Split(path)
	return (name == "text" || name == "wav.scp" || name == "segments") && has(folder, "text") && has(folder, "wav.scp")
}

// kaldi joins text and wav.scp (through segments where it exists) by utterance, in the order of text. The
// files may be in any order: only equality of ids counts, so neither sorting nor the locale matters. Of text one part
// after the other is in memory, the other files are there as a whole.
func (l *listing) kaldi(folder string) error {
	l.parents = true
	read := func(name string, optional bool) (*keyed, error) {
		f, err := readKeyed(filepath.Join(folder, name))
		if optional && errors.Is(err, fs.ErrNotExist) {
			return new(keyed), nil
		}
		if f != nil {
			l.note(f.note)
		}
		return f, err
	}
	texts, err := openText(filepath.Join(folder, "text"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("manifest %s: a folder with wav.scp and without text; "+
			"a Kaldi folder needs text and wav.scp", folder)
	}
	if err == nil {
		defer texts.Close()
		l.note(texts.note)
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
	n, used := 0, make([]bool, len(sound.slots))
	take := l.take
	l.take = func(e *entry) {
		if n++; e.id != "" {
			if slot, found := sound.find(e.id); found {
				used[slot] = true
			}
		}
		take(e)
	}
	err = l.each(texts, 1, func(number int, line string) entry {
		e := entry{file: texts.path, line: number}
		if bad := notText(line); bad != "" {
			e.fail(Broken, "%s", bad)
			return e
		}
		e.id, e.text = cutField(line)
		e.speaker, _ = speakers.value(e.id)
		if v, ok := sound.value(e.id); !ok {
			e.fail(Unmatched, "not in %s", filepath.Base(sound.path))
		} else if segments.path != "" {
			e.segment(v, segments, scp)
		} else {
			e.recording(v)
		}
		return e
	})
	l.take = take
	if err != nil {
		return err
	}
	for id, line := range sound.keys() {
		if slot, _ := sound.find(id); !used[slot] {
			e := entry{id: id, file: sound.path, line: line}
			e.fail(Unmatched, "not in text")
			l.add(e)
		}
	}
	if n+sound.count == 0 && l.ctx.Err() == nil {
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
func (e *entry) segment(value string, segments, scp *keyed) {
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
	file, ok := scp.value(f[0])
	if !ok {
		e.fail(Unmatched, "its recording %s is not in wav.scp", f[0])
		return
	}
	e.recording(file)
	e.part, e.offset = true, start
	if end != -1 {
		e.duration = end - start
	}
	e.checkPart()
}
