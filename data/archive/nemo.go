package archive

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"

	"konkanitrain/data/audio"
)

// Beside finds sound in the tars that lie beside a manifest, as NeMo's tarred data sets have it: audio_0.tar and so on,
// and a manifest whose paths are the names of members.
type Beside struct {
	tars    []string
	members map[string][]*span // by name
	notes   []string
}

// OpenBeside lists the tars in a folder. It is nil if there is none.
func OpenBeside(ctx context.Context, folder string, x *Index) (*Beside, error) {
	tars, err := glob(filepath.Join(globEscape(folder), "*.tar"))
	if err != nil || len(tars) == 0 {
		return nil, err
	}
	b := &Beside{tars: tars, members: map[string][]*span{}}
	for _, path := range tars {
		t, err := x.tar(ctx, path)
		if err != nil {
			return nil, err
		}
		b.notes = append(b.notes, t.notes...)
		for i := range t.members {
			m := &t.members[i]
			if m.link != "" {
				continue
			}
			b.members[m.name] = append(b.members[m.name], t.source(m))
		}
	}
	b.notes = append(b.notes, x.Notes()...)
	return b, nil
}

// globEscape has a folder's name mean itself in a pattern.
func globEscape(s string) string { return globMeta.ReplaceAllString(s, `[$0]`) }

var globMeta = regexp.MustCompile(`[*?\[]`)

// Notes is what was odd about the tars.
func (b *Beside) Notes() []string { return b.notes }

// part is the ending that NeMo gives names of the same recording from its second part on: a-sub1.wav for a.wav.
var part = regexp.MustCompile(`-sub\d+(\.[^.]*)?$`)

// Find is the member of this name; nil if there is none. It is an error if several tars have it.
func (b *Beside) Find(name string) (audio.Source, error) {
	found := b.members[name]
	if found == nil {
		found = b.members[part.ReplaceAllString(name, "$1")]
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%s is in %s and in %s; member names must be unique", name, found[0].file.path, found[1].file.path)
}
