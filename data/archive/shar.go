package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"konkanitrain/internal/words"
)

// shard is a list of cuts in a Shar folder, and the tar of their recordings, which may not be there.
type shard struct {
	cuts, tar string
	there     bool
}

var sharName = regexp.MustCompile(`^cuts\.(\d+)\.jsonl(\.gz)?$`)

// sharShards lists the shards of a folder, by their numbers, as os.ReadDir sorts them.
func sharShards(folder string, entries []os.DirEntry) []shard {
	var shards []shard
	for _, e := range entries {
		m := sharName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		s := shard{cuts: filepath.Join(folder, e.Name()), tar: filepath.Join(folder, "recording."+m[1]+".tar")}
		for _, tar := range []string{s.tar, s.tar + ".gz"} { // the second is refused by name
			if _, err := os.Stat(tar); err == nil && !s.there {
				s.tar, s.there = tar, true
			}
		}
		shards = append(shards, s)
	}
	return shards
}

// sharSounds is the tar of a shard.
type sharSounds struct {
	tar   string
	there bool
	byCut map[string]*span
}

// find is the sound of a cut; nil if the tar doesn't have it.
func (s *sharSounds) find(cut string) *span {
	if s == nil {
		return nil
	}
	return s.byCut[cut]
}

// lacks says why the sound of a cut, which should lie in the tar, is not found. list has the cuts.
func (s *sharSounds) lacks(list, cut string) string {
	switch {
	case s == nil:
		return fmt.Sprintf("the sound of cut %s lies in a tar beside its list (Shar); give the folder, %s", cut, filepath.Dir(list))
	case !s.there:
		return fmt.Sprintf("the sound of cut %s should lie in %s, which is not there", cut, s.tar)
	}
	return fmt.Sprintf("cut %s is not in %s, which has the sound of %s", cut, s.tar, words.Count(len(s.byCut), "other cut"))
}

// isShar says whether a recording is a member of the tar of its shard.
func (r *lhotseRecording) isShar() bool { return len(r.Sources) == 1 && r.Sources[0].Type == "shar" }

// shar lists a shard. A recording in its tar is exactly its cut, and is called by the cut's id.
func (l *List) shar(ctx context.Context, s shard, x *Index) error {
	if stat, err := os.Stat(s.cuts); err == nil && stat.Size() == 0 {
		return errEmpty(s.cuts)
	}
	if !s.there {
		return l.cuts(ctx, s.cuts, &sharSounds{tar: s.tar})
	}
	t, err := x.tar(ctx, s.tar)
	if err != nil {
		return err
	}
	l.Notes = append(l.Notes, t.notes...)
	in := &sharSounds{s.tar, true, make(map[string]*span, len(t.members)/2)}
	for i := range t.members {
		m := &t.members[i]
		ending := filepath.Ext(m.name)
		if ending != "" && soundEndings[ending[1:]] && !m.mac() && m.link == "" {
			in.byCut[m.name[:len(m.name)-len(ending)]] = t.source(m)
		}
	}
	return l.cuts(ctx, s.cuts, in)
}
