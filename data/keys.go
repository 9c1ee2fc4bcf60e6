package data

import (
	"fmt"
	"strings"

	"konkanitrain/internal/words"
)

// The keys of JSON lines, and the columns of tables, that name the same: the first that is there counts.
var (
	audioKeys   = []string{"audio_filepath", "audio", "path", "wav", "file_name", "file", "filename", "audio_file"}
	textKeys    = []string{"text", "sentence", "transcript", "transcription", "normalized_text", "wrd"}
	speakerKeys = []string{"speaker", "client_id", "spk_id", "speaker_id", "speaker_name"}
)

// first is the first of some keys that an object has, with a value that isn't null; else the first of all.
func (o object) first(keys []string) string {
	for _, key := range keys {
		if !isNull(o.get(key)) {
			return key
		}
	}
	return keys[0]
}

// another says that a line has a second text, under another key than the one that counts.
func (e *entry) another(used, key, text string) {
	if text != e.text && e.other == (choice{}) {
		e.other = choice{used, key}
	}
}

// choice is a key whose text was used where another key has another text.
type choice struct{ used, key string }

// chose counts a line with two texts.
func (in *intake) chose(e *entry) {
	for i := range in.choices {
		if in.choices[i].choice == e.other {
			in.choices[i].count++
			return
		}
	}
	c := choice{strings.Clone(e.other.used), strings.Clone(e.other.key)}
	in.choices = append(in.choices, chosen{c, 1, fmt.Sprintf("the first is line %d", e.line)})
}

// sayChoices says which of several texts were used, once for each pair of keys.
func (in *intake) sayChoices() {
	for _, c := range in.choices {
		in.notes = append(in.notes, words.Count(c.count, "line")+" with one text under "+c.used+" and another under "+c.key+
			"; "+c.used+" is used ("+c.first+")")
	}
}

// chosen are the lines with one such choice.
type chosen struct {
	choice
	count int
	first string // where the first is
}
