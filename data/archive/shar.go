package archive

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
)

// shard is a list of cuts in a Shar folder, with the tar of their recordings; "" where there is none.
type shard struct{ cuts, tar string }

var sharName = regexp.MustCompile(`^cuts\.(\d+)\.jsonl(\.gz)?$`)

// sharShards lists the shards of a folder, by their numbers, as os.ReadDir sorts them.
func sharShards(folder string, entries []os.DirEntry) []shard {
	var shards []shard
	for _, e := range entries {
		m := sharName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		s := shard{cuts: filepath.Join(folder, e.Name())}
		for _, ending := range []string{".tar", ".tar.gz"} { // the second is refused by name
			if tar := filepath.Join(folder, "recording."+m[1]+ending); s.tar == "" {
				if _, err := os.Stat(tar); err == nil {
					s.tar = tar
				}
			}
		}
		shards = append(shards, s)
	}
	return shards
}

// shar lists a shard. A recording in its tar is exactly its cut, and is called by the cut's id.
func (l *List) shar(ctx context.Context, s shard, x *Index) error {
	if s.tar == "" {
		return l.cuts(ctx, s.cuts, nil)
	}
	t, err := x.tar(ctx, s.tar)
	if err != nil {
		return err
	}
	l.Notes = append(l.Notes, t.notes...)
	byCut := make(map[string]*span, len(t.members)/2)
	for i := range t.members {
		m := &t.members[i]
		ending := filepath.Ext(m.name)
		if ending != "" && soundEndings[ending[1:]] {
			byCut[m.name[:len(m.name)-len(ending)]] = t.source(m)
		}
	}
	return l.cuts(ctx, s.cuts, func(cut string) *span { return byCut[cut] })
}
