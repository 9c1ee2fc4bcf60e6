package data

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/data/archive"
)

// Forms names what a manifest can be, for messages.
const Forms = "JSON lines, a table (CSV, TSV, LJSpeech, Coqui, SpeechBrain, Common Voice), a folder of Kaldi, LibriSpeech, LJSpeech or " +
	"with metadata.jsonl or metadata.csv, or archives (tars, Parquet, cuts of Lhotse's or a Shar folder)"

// form is how a manifest that is one file is read.
type form struct {
	lines func(l *listing, t *textFile) error
	table bool // it begins with a header
}

// formOf tells by its name and its start how a file is read: by its extension where that is .tsv or .csv, and else as
// JSON lines, unless it starts with a table's header, or is a list of LibriSpeech or LJSpeech.
func formOf(t *textFile) form {
	table := func(sep byte) form {
		return form{func(l *listing, t *textFile) error { return l.table(t, sep) }, true}
	}
	name, start := strings.ToLower(filepath.Base(t.path)), bytes.TrimLeft(t.head, "\x00\r\n\t ")
	extension := filepath.Ext(name)
	switch sep, header := separator(t.head); {
	case strings.HasSuffix(name, transcripts):
		return form{(*listing).libriSpeech, true}
	case extension == ".tsv":
		return table('\t')
	case bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("[")):
		return form{(*listing).json, false}
	case slices.Contains([]string{".json", ".jsonl", ".ndjson"}, extension):
		return form{(*listing).json, false}
	case header:
		return table(sep)
	case isLJSpeech(start):
		return form{(*listing).ljSpeech, true}
	case extension == ".csv" && bytes.IndexByte(firstLine(start), ',') < 0 && bytes.IndexByte(firstLine(start), ';') >= 0:
		return table(';')
	case extension == ".csv":
		return table(',')
	}
	return form{(*listing).json, false}
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return bytes.TrimRight(line, "\r")
}

// folderForm is what a folder can be.
type folderForm struct {
	name string
	mark string // what has to lie in it, in words
	say  string // what to name so that this form is meant, in the folder
	here func(folder string) bool
	read func(l *listing, folder string) error
}

var folderForms = []folderForm{
	{"Kaldi", "text and wav.scp", "wav.scp", func(f string) bool { return has(f, "wav.scp") || has(f, "text") }, (*listing).kaldi},
	{"JSON lines", "metadata.jsonl", "metadata.jsonl", func(f string) bool { return has(f, "metadata.jsonl") }, metadata("metadata.jsonl")},
	{"a table or LJSpeech", "metadata.csv", "metadata.csv", func(f string) bool { return has(f, "metadata.csv") }, metadata("metadata.csv")},
	{"LibriSpeech", "files named *" + transcripts + ", or in folders below", "", func(f string) bool { return len(findTranscripts(f, 1)) > 0 }, (*listing).libriFolder},
}

func has(folder, name string) bool { return isFile(filepath.Join(folder, name)) }

func metadata(name string) func(*listing, string) error {
	return func(l *listing, folder string) error { return l.readFile(filepath.Join(folder, name)) }
}

// readFolder reads a folder by what lies in it.
func (l *listing) readFolder(folder string) error {
	l.base = folder
	var found []folderForm
	for _, f := range folderForms {
		if f.here(folder) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0].read(l, folder)
	case 0:
		if l.sounds {
			return l.soundFiles(folder)
		}
		return fmt.Errorf("manifest %s: a folder with none of what is looked for in one: %s; it has %s", folder, marks(folderForms)+"; "+archive.Marks, contents(folder))
	}
	return fmt.Errorf("manifest %s: it can be read as several forms (%s); name what is meant (%s), or move the others away", folder, marks(found), choices(folder, found))
}

// choices lists what to name so that one form of a folder is meant. Of LibriSpeech that is what holds the transcripts:
// a folder below, or a transcript.
func choices(folder string, forms []folderForm) string {
	list := make([]string, len(forms))
	for i, f := range forms {
		list[i] = filepath.Join(folder, f.say)
		if f.say == "" {
			first := findTranscripts(folder, 1)[0]
			if rel, err := filepath.Rel(folder, first); err == nil {
				rel, _, _ = strings.Cut(filepath.ToSlash(rel), "/")
				list[i] = filepath.Join(folder, rel)
			}
		}
	}
	return strings.Join(list, " or ")
}

// marks lists what makes forms of folders.
func marks(forms []folderForm) string {
	list := make([]string, len(forms))
	for i, f := range forms {
		list[i] = fmt.Sprintf("%s (%s)", f.mark, f.name)
	}
	return strings.Join(list, "; ")
}

// contents names the first things in a folder.
func contents(folder string) string {
	const most = 6
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Sprintf("can't be listed (%v)", err)
	}
	var list []string
	for _, e := range entries[:min(len(entries), most)] {
		list = append(list, e.Name())
	}
	if len(entries) == 0 {
		return "nothing in it"
	}
	if len(entries) > most {
		list = append(list, fmt.Sprintf("and %d more", len(entries)-most))
	}
	return strings.Join(list, ", ")
}
