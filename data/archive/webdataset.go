package archive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"konkanitrain/internal/words"
)

// samples lists the utterances of a tar in the form of WebDataset: members that share a key, wherever they stand.
func (t *tarball) samples(l *List) {
	l.Notes = append(l.Notes, t.notes...)
	if len(t.members) == 0 {
		l.note("%s: it has no members", t.file.path)
	}
	var keys []string // in the order of their first members
	groups := map[string][]*member{}
	lines := map[string]int{}
	nameless, firstNameless := 0, ""
	for i := range t.members {
		m := &t.members[i]
		if m.mac() {
			continue
		}
		key, _, ok := splitName(m.name)
		if !ok {
			if nameless++; nameless == 1 {
				firstNameless = m.name
			}
			continue
		}
		if groups[key] == nil {
			keys, lines[key] = append(keys, key), i+1
		}
		groups[key] = append(groups[key], m)
	}
	differ, firstDiffers := 0, ""
	for _, key := range keys {
		r, differs := t.sample(key, groups[key])
		if r.Line = lines[key]; differs != "" {
			if differ++; differ == 1 {
				firstDiffers = differs
			}
		}
		l.Rows = append(l.Rows, r)
	}
	if differ > 0 {
		l.note("%s: for %s the text in .json is another than that of the member beside it, which counts; the first: %s",
			t.file.path, words.Count(differ, "sample"), firstDiffers)
	}
	if nameless > 0 {
		l.note("%s: %s without a name with an ending left out, the first is %q",
			t.file.path, words.Count(nameless, "member"), firstNameless)
	}
}

// sample is the utterance of members that share a key. differs says how two texts of it are not the same.
func (t *tarball) sample(key string, members []*member) (r Row, differs string) {
	r = Row{ID: key, Audio: key, File: t.file.path}
	var sounds, links []*member
	var plain, object *member
	var endings []string
	for _, m := range members {
		if m.link != "" {
			links = append(links, m)
			continue
		}
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
	if len(links) > 0 {
		have = strings.TrimPrefix(have+", ", ", ") + fmt.Sprintf("%s, a link to %s (write the tar with --dereference --hard-dereference)",
			links[0].name, links[0].link)
	}
	switch {
	case len(sounds) == 1:
		r.Audio, r.Source = sounds[0].name, t.source(sounds[0])
	case len(sounds) == 0:
		r.fail("%s: no member is sound; it has %s", key, have)
	case sounds[0].name == sounds[1].name:
		r.fail("%s stands in the tar more than once", sounds[0].name)
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
		text := strings.TrimSpace(plain.text)
		if r.Text != "" && !slices.Equal(strings.Fields(r.Text), strings.Fields(text)) && r.Wrong == "" {
			differs = fmt.Sprintf("%s has %q, %s %q", plain.name, shortened(text), object.name, shortened(r.Text))
		}
		r.Text = text
	}
	if r.Text == "" && r.Wrong == "" {
		r.Empty = true
		r.fail("%s: no text; it has %s%s", key, have, classHint(endings))
	}
	return r, differs
}

// shortened is the start of a text, for messages.
func shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
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
