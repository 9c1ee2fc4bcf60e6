package archive

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"konkanitrain/internal/words"
)

// Marks names what makes a folder one of archives, for messages.
const Marks = "*.tar (WebDataset); *.parquet, or in data/ (Parquet); cuts.jsonl.gz or supervisions.jsonl.gz (Lhotse); " +
	"cuts.000000.jsonl.gz with recording.000000.tar (Lhotse Shar)"

// openFolder lists a folder of archives; nil if it is something else.
func openFolder(ctx context.Context, folder string, x *Index) (*List, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", folder, err)
	}
	byEnding := map[string][]string{}
	has := map[string]bool{}
	for _, e := range entries {
		has[e.Name()] = true
		if !e.IsDir() && !hidden(e.Name()) {
			ending := strings.ToLower(filepath.Ext(e.Name()))
			byEnding[ending] = append(byEnding[ending], filepath.Join(folder, e.Name()))
		}
	}
	tars, tables := byEnding[".tar"], byEnding[".parquet"]
	switch shar := sharShards(folder, entries); {
	case has["wav.scp"]:
		return nil, nil // Kaldi's
	case len(shar) > 0:
		l := new(List)
		var read []string
		for _, s := range shar {
			if err := l.shar(ctx, s, x); err != nil {
				return nil, fmt.Errorf("manifest %w", err)
			}
			read = append(read, s.cuts, s.tar)
		}
		l.leftOut(folder, entries, read)
		return l.done(folder, x)
	case len(tars) > 0 && len(tables) > 0:
		return nil, fmt.Errorf("manifest %s: it has tars and Parquet; say which: %s, or %s", folder,
			standFor(folder, tars, ".tar"), standFor(folder, tables, ".parquet"))
	case len(tables) > 0:
		if splits, files := splitsOf(tables); len(splits) > 1 {
			return nil, fmt.Errorf("manifest %s: it has %s; say which: %s", folder, words.List(splits, 8), words.List(choices(folder, splits, files), 8))
		}
		return openAll(ctx, folder, entries, tables, x)
	case len(tars) > 0:
		if lists := slices.Concat(byEnding[".json"], byEnding[".jsonl"]); len(lists) > 0 {
			return nil, fmt.Errorf("manifest %s: it has %s and %s beside; give the list if it names what is in the tars, "+
				"or %s for the tars alone", folder, words.Count(len(tars), "tar"), filepath.Base(lists[0]), filepath.Join(folder, "*.tar"))
		}
		return openAll(ctx, folder, entries, tars, x)
	case has["data"]:
		below := filepath.Join(folder, "data") // as repositories of data sets have it
		if found, _ := glob(filepath.Join(globEscape(below), "*.parquet")); len(found) > 0 {
			l, err := openFolder(ctx, below, x)
			if l != nil {
				l.leftOut(folder, entries, []string{below})
			}
			return l, err
		}
	}
	for _, name := range []string{"cuts.jsonl.gz", "cuts.jsonl", "supervisions.jsonl.gz", "supervisions.jsonl"} {
		if has[name] {
			return Open(ctx, filepath.Join(folder, name), x)
		}
	}
	return nil, nil
}

// openAll lists all archives of one kind in a folder.
func openAll(ctx context.Context, folder string, entries []os.DirEntry, paths []string, x *Index) (*List, error) {
	l := new(List)
	for _, p := range paths {
		if _, err := l.add(ctx, p, x); err != nil {
			return nil, fmt.Errorf("manifest %w", err)
		}
	}
	l.missing(paths)
	l.leftOut(folder, entries, paths)
	return l.done(folder, x)
}

// hidden says whether a name is left out where names are listed, as ._NAME is, which macOS puts beside NAME.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// dataEndings are those of files that may hold what one wants to train on, besides sound.
var dataEndings = []string{".tar", ".gz", ".tgz", ".zip", ".bz2", ".xz", ".zst", ".parquet", ".arrow", ".jsonl", ".csv", ".tsv"}

// sharField matches what else a Shar folder has of a shard.
var sharField = regexp.MustCompile(`^[^.]+\.\d+\.(tar|jsonl)(\.gz)?$`)

// leftOut says what data in a folder, or below, is not read.
func (l *List) leftOut(folder string, entries []os.DirEntry, read []string) {
	isRead := make(map[string]bool, len(read))
	for _, p := range read {
		isRead[p] = true
	}
	var left []string
	shar := slices.ContainsFunc(read, func(p string) bool { return sharName.MatchString(filepath.Base(p)) })
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(folder, name)
		switch ending := strings.ToLower(filepath.Ext(name)); {
		case hidden(name), isRead[path]:
		case e.IsDir():
			if found := firstArchive(path); found != "" {
				left = append(left, filepath.Join(name, found))
			}
		case shar && sharField.MatchString(name) && !strings.HasPrefix(name, "recording."): // another field
		case slices.Contains(dataEndings, ending), ending != "" && soundEndings[ending[1:]]:
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		l.note("%s: not read of what lies in it: %s; give as a manifest of its own what should be", folder, words.List(left, 8))
	}
}

// firstArchive is the first archive below a folder, by its path from there; "" if there is none among its first files.
func firstArchive(folder string) string {
	const most = 10_000
	found, looked := "", 0
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if looked++; err != nil || looked > most {
			return fs.SkipAll
		}
		ending := strings.ToLower(filepath.Ext(path))
		if !d.IsDir() && !hidden(d.Name()) && (ending == ".tar" || ending == ".parquet" || sharName.MatchString(d.Name())) {
			found, _ = filepath.Rel(folder, path)
			return fs.SkipAll
		}
		return nil
	})
	return found
}
