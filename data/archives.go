package data

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"konkanitrain/data/archive"
	"konkanitrain/data/audio"
)

// Pattern says whether a manifest's path is a pattern that stands for archives, such as shard-{000..009}.tar or
// train-*.parquet. The error says why it stands for none, or which
// is not there.
func Pattern(path string) (bool, error) {
	paths, err := archive.Expand(path)
	for _, p := range paths {
		if _, wrong := os.Stat(p); wrong != nil && err == nil {
			err = fmt.Errorf("%s stands for %d files: %w", path, len(paths), wrong)
		}
	}
	return paths != nil || err != nil, err
}

// archive reads a manifest that is one or more archives; false if it is something else.
func (l *listing) archive(path string) (bool, error) {
	found, err := archive.Open(l.ctx, path, l.index)
	if found == nil || err != nil {
		return false, err
	}
	l.base = filepath.Dir(path)
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		l.base = path
	}
	l.notes = append(l.notes, found.Notes...)
	for i := range found.Rows {
		l.add(rowEntry(&found.Rows[i]))
	}
	return true, nil
}

// rowEntry is a row of an archive as an entry. What is wrong with it is not its writing: the limit on bad lines counts.
func rowEntry(r *archive.Row) entry {
	e := entry{id: r.ID, audio: r.Audio, source: r.Source, speaker: r.Speaker, text: r.Text, file: r.File, line: r.Line,
		part: r.Part, offset: r.Offset, duration: r.Duration}
	if r.Source != nil {
		e.audio = r.Source.Name()
	}
	switch {
	case r.Empty:
		e.fail(EmptyText, "%s", r.Wrong)
	case r.Wrong != "":
		e.fail(Unreadable, "%s", r.Wrong)
	case r.Stated != "" && !r.Part:
		e.state(r.Stated)
	}
	for _, s := range []string{e.id, e.audio, e.text, e.speaker} {
		if bad := notText(s); bad != "" && e.kind == "" {
			e.fail(Unreadable, "%s", bad)
		}
	}
	e.checkPart()
	return e
}

// beside finds the sound of lines in tars that lie beside the manifest, or above it, as NeMo's sharded manifests are;
// the tars are gone through when the first file is missing.
type beside struct {
	in    *intake
	once  sync.Once
	found *archive.Beside
	err   error
}

// notes is what was odd about the tars.
func (b *beside) notes() []string {
	if b.found == nil {
		return nil
	}
	return b.found.Notes()
}

func (b *beside) open() {
	for _, f := range []string{b.in.base, filepath.Join(b.in.base, "..")} {
		if b.found, b.err = archive.OpenBeside(b.in.ctx, f, b.in.index); b.found != nil || b.err != nil {
			return
		}
	}
}

// find is the member of this name; nil if there is none.
func (b *beside) find(name string) (audio.Source, error) {
	if b.once.Do(b.open); b.err != nil || b.found == nil {
		return nil, b.err
	}
	return b.found.Find(name)
}
