package data

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// transcripts ends the names of LibriSpeech's lists: SPEAKER-CHAPTER.trans.txt, beside the sounds of the chapter.
const transcripts = ".trans.txt"

// findTranscripts lists the transcripts below a folder, in order, without what macOS puts beside them; enough of them
// end the search, 0 for all.
func findTranscripts(folder string, enough int) []string {
	var found []string
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // what can't be read has none
		}
		if !d.IsDir() && !strings.HasPrefix(d.Name(), "._") && strings.HasSuffix(strings.ToLower(d.Name()), transcripts) {
			if found = append(found, path); len(found) == enough {
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}

// libriFolder reads all transcripts below a folder.
func (l *listing) libriFolder(folder string) error {
	for _, path := range findTranscripts(folder, 0) {
		t, err := openText(path)
		if err != nil {
			return err
		}
		err = l.libriSpeech(t)
		t.Close()
		if err != nil {
			return err
		}
		if t.note != "" {
			l.notes = append(l.notes, t.note)
		}
	}
	return nil
}

// libriSpeech reads the transcripts of a chapter: an id and the text a line; the sound is the id's file beside it, and
// the speaker is the id's first part.
func (l *listing) libriSpeech(t *textFile) error {
	folder, err := filepath.Rel(l.base, filepath.Dir(t.path))
	if err != nil {
		folder = "."
	}
	return l.each(t, 1, func(number int, line string) entry {
		e := entry{file: t.path, line: number}
		if bad := notText(line); bad != "" {
			e.fail(Broken, "%s", bad)
			return e
		}
		e.id, e.text = cutField(line)
		e.speaker, _, _ = strings.Cut(e.id, "-")
		e.audio = filepath.ToSlash(filepath.Join(folder, e.id+".flac"))
		return e
	})
}

// ljFields is the number of columns of LJSpeech's list: id, text as it is printed, text as it is spoken.
const ljFields = 3

// isLJSpeech says whether a text starts as LJSpeech's list does: it has no header.
func isLJSpeech(head []byte) bool {
	n := bytes.Count(firstLine(head), []byte("|"))
	return n == ljFields-1 || n == ljFields-2
}

// ljSpeech reads such a list. The sound is the id's file in wavs/ or beside the list; the text as it is spoken counts
// where there is one.
func (l *listing) ljSpeech(t *textFile) error {
	l.places = []string{"wavs"}
	return l.each(t, 1, func(number int, line string) entry {
		e := entry{file: t.path, line: number}
		if bad := notText(line); bad != "" {
			e.fail(Broken, "%s", bad)
			return e
		}
		f := strings.Split(line, "|")
		if len(f) != ljFields && len(f) != ljFields-1 {
			e.fail(Broken, "%d fields with | between them; LJSpeech's list has an id, a text and perhaps the text as it is spoken", len(f))
			return e
		}
		e.id = strings.TrimSpace(f[0])
		e.text = f[len(f)-1]
		if strings.TrimSpace(e.text) == "" {
			e.text = f[1]
		}
		if e.id == "" {
			e.fail(Broken, "the id is empty")
			return e
		}
		e.audio = e.id
		if !slices.Contains(soundEndings, strings.ToLower(filepath.Ext(e.id))) {
			e.audio += ".wav"
		}
		return e
	})
}
