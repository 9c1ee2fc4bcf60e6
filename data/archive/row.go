package archive

import (
	"fmt"
	"path/filepath"

	"konkanitrain/data/audio"
)

// Row is one utterance as an archive has it.
type Row struct {
	ID      string       // the identity that the archive gives it
	Audio   string       // what names its sound: a member, the path in a cell, or a file's path
	Source  audio.Source // where the sound lies; nil if Audio is the path of a file
	Text    string
	Speaker string
	Stated  string // the duration as it is written, "" if it isn't

	Part             bool    // the utterance is from Offset on, Duration long, both in seconds
	Offset, Duration float64 // Duration 0 is to the end

	File  string // where the row is written: the archive, or a list beside it
	Line  int    // counted from 1: the member of a tar, the row of a Parquet file, the line of a list
	Wrong string // why the row can't be used; "" if nothing is wrong with it
	Empty bool   // with Wrong: there is no text
}

func (r *Row) fail(format string, args ...any) {
	if r.Wrong == "" {
		r.Wrong = fmt.Sprintf(format, args...)
	}
}

// List is what one or more archives hold, in their order.
type List struct {
	Rows  []Row
	Notes []string // what was odd about whole files
}

func (l *List) note(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

// unique makes the ids of rows differ where the same name stands in several archives: each then begins with its
// archive's name without the ending, which is said. Rows that are still alike are left alone, for the caller to refuse.
func (l *List) unique() {
	first := make(map[string]string, len(l.Rows))
	for i := range l.Rows {
		r := &l.Rows[i]
		file, again := first[r.ID]
		if !again {
			first[r.ID] = r.File
			continue
		}
		if file == r.File {
			continue
		}
		for j := range l.Rows {
			r := &l.Rows[j]
			r.ID = stem(r.File) + "/" + r.ID
		}
		l.note("the name %s stands in %s and in %s: ids begin with the archive's name, as in %s",
			r.Audio, file, r.File, l.Rows[i].ID)
		return
	}
}

// stem is a file's name without its folder and ending.
func stem(path string) string {
	base := filepath.Base(path)
	return base[:len(base)-len(filepath.Ext(base))]
}
