package archive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// samples lists the utterances of a tar in the form of WebDataset: members that stand together and share a key.
func (t *tarball) samples(l *List) {
	l.Notes = append(l.Notes, t.notes...)
	if len(t.members) == 0 {
		l.note("%s: it has no members", t.file.path)
	}
	ignored, firstIgnored := 0, ""
	for from := 0; from < len(t.members); {
		key, _, ok := splitName(t.members[from].name)
		to := from + 1
		for ; ok && to < len(t.members); to++ {
			if next, _, _ := splitName(t.members[to].name); next != key {
				break
			}
		}
		if !ok {
			if ignored++; ignored == 1 {
				firstIgnored = t.members[from].name
			}
		} else {
			l.Rows = append(l.Rows, t.sample(key, from, to))
		}
		from = to
	}
	if ignored > 0 {
		l.note("%s: %d of its members have no name with an ending, the first is %q; they are left out", t.file.path, ignored, firstIgnored)
	}
}

// sample is the utterance of members from to to.
func (t *tarball) sample(key string, from, to int) Row {
	r := Row{ID: key, Audio: key, File: t.file.path, Line: from + 1}
	var sounds []*member
	var plain, object *member
	var endings []string
	for i := from; i < to; i++ {
		m := &t.members[i]
		_, ending, _ := splitName(m.name)
		endings = append(endings, "."+ending)
		switch last := lastEnding(ending); {
		case soundEndings[last]:
			sounds = append(sounds, m)
		case textEndings[last] && plain == nil:
			plain = m
		case last == "json" && object == nil:
			object = m
		}
	}
	slices.Sort(endings)
	endings = slices.Compact(endings)
	have := strings.Join(endings, ", ")
	switch {
	case len(sounds) == 1:
		r.Audio, r.Source = sounds[0].name, t.source(sounds[0])
	case len(sounds) == 0:
		r.fail("%s: no member is sound; it has %s", key, have)
	default:
		r.fail("%s: %d members are sound (%s), and one is needed", key, len(sounds), have)
	}
	for _, m := range []*member{plain, object} {
		if m != nil && !m.whole {
			r.fail("%s: %d bytes, too long for a transcript", m.name, m.size)
		}
	}
	if object != nil && object.whole {
		r.fromJSON(object)
	}
	if plain != nil {
		r.Text = strings.TrimSpace(plain.text)
	}
	if r.Text == "" && r.Wrong == "" {
		r.Empty = true
		r.fail("%s: no text; it has %s%s", key, have, classHint(endings))
	}
	return r
}

// classHint says of a number that it is no text.
func classHint(endings []string) string {
	if slices.Contains(endings, ".cls") {
		return " (.cls is the number of a class: write the word as .txt)"
	}
	return ""
}

// fromJSON takes what a member with keys and values says of a sample.
func (r *Row) fromJSON(m *member) {
	var values map[string]any
	d := json.NewDecoder(strings.NewReader(m.text))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		r.fail("%s: not a JSON object (%v)", m.name, err)
		return
	}
	get := func(keys []string) string {
		for _, k := range keys {
			switch v := values[k].(type) {
			case string:
				return v
			case json.Number:
				return v.String()
			}
		}
		return ""
	}
	r.Text, r.Speaker, r.Stated = strings.TrimSpace(get(textNames)), get(speakerNames), get(durationNames)
}

// Names of keys and columns as data sets in use have them, the more usual first.
var (
	textNames     = []string{"text", "sentence", "transcription", "transcript", "normalized_text"}
	speakerNames  = []string{"speaker", "speaker_id", "client_id"}
	durationNames = []string{"duration"}
	idNames       = []string{"id", "utt_id", "utterance_id", "segment_id"}
	soundNames    = []string{"audio", "audio_filepath", "wav", "flac", "mp3", "sound", "speech", "bytes"}
)

// oneOf names alternatives in a message.
func oneOf(names []string) string { return fmt.Sprintf("one of %s", strings.Join(names, ", ")) }
