package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Open lists what lies in archives: a tar in the form of WebDataset, a Parquet file, Lhotse's lists, a folder or a
// pattern (see [Expand]) of any of them. It is nil if path is something else.
func Open(ctx context.Context, path string, x *Index) (*List, error) {
	paths, err := Expand(path)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	if paths == nil {
		stat, err := os.Stat(path)
		if err != nil {
			return nil, nil // who reads other manifests says so
		}
		switch {
		case stat.IsDir():
			return openFolder(ctx, path, x)
		case !stat.Mode().IsRegular():
			return nil, nil // a pipe gives its bytes once
		}
		paths = []string{path}
	}
	l := new(List)
	for _, p := range paths {
		known, err := l.add(ctx, p, x)
		switch {
		case err != nil:
			return nil, named(err)
		case !known && len(paths) > 1:
			return nil, fmt.Errorf("manifest %s: it stands for %d files, and %s is neither a tar, a Parquet file nor a list of Lhotse's",
				path, len(paths), p)
		case !known:
			return nil, nil
		}
	}
	return l.done(path, x)
}

// done looks at the whole.
func (l *List) done(path string, x *Index) (*List, error) {
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("manifest %s: nothing is in it", path)
	}
	l.unique()
	l.Notes = append(l.Notes, x.Notes()...)
	return l, nil
}

// add lists one file; false if it is of no form that is known here.
func (l *List) add(ctx context.Context, path string, x *Index) (bool, error) {
	form, err := sniff(path)
	if err != nil {
		return false, err
	}
	switch form {
	case "tar":
		t, err := x.tar(ctx, path)
		if err == nil {
			t.samples(l)
		}
		return true, err
	case "parquet":
		t, err := x.table(ctx, path)
		if err == nil {
			t.list(l)
		}
		return true, err
	}
	return l.lhotse(ctx, path)
}

// sniff tells what a file is by its content, "" for all else.
func sniff(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, 512)
	n, err := io.ReadFull(f, b)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	b = b[:n]
	name := strings.ToLower(path)
	switch {
	case n >= 262 && string(b[257:262]) == "ustar":
		return "tar", nil
	case n >= 4 && (string(b[:4]) == "PAR1" || string(b[:4]) == "PARE"):
		return "parquet", nil
	case strings.HasSuffix(name, ".tar"), strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return "tar", nil // an old one without a magic, or a damaged one: its reader says which
	}
	return "", nil
}

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
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			ending := filepath.Ext(e.Name())
			byEnding[ending] = append(byEnding[ending], filepath.Join(folder, e.Name()))
		}
	}
	tars, tables := byEnding[".tar"], byEnding[".parquet"]
	switch shar := sharShards(folder, entries); {
	case has["wav.scp"]:
		return nil, nil // Kaldi's
	case len(shar) > 0:
		l := new(List)
		for _, s := range shar {
			if err := l.shar(ctx, s, x); err != nil {
				return nil, named(err)
			}
		}
		return l.done(folder, x)
	case len(tables) > 0:
		if splits := splitsOf(tables); len(splits) > 1 {
			return nil, fmt.Errorf("manifest %s: it has %s; say which: %s", folder, strings.Join(splits, ", "),
				filepath.Join(folder, splits[0]+"-*.parquet"))
		}
		return openAll(ctx, folder, tables, x)
	case len(tars) > 0:
		if lists := slices.Concat(byEnding[".json"], byEnding[".jsonl"]); len(lists) > 0 {
			return nil, fmt.Errorf("manifest %s: it has %d tars and %s beside them; give the list if it names what is in the tars, "+
				"or %s for the tars alone", folder, len(tars), filepath.Base(lists[0]), filepath.Join(folder, "*.tar"))
		}
		return openAll(ctx, folder, tars, x)
	case has["data"]:
		if found, _ := filepath.Glob(filepath.Join(folder, "data", "*.parquet")); len(found) > 0 {
			return openFolder(ctx, filepath.Join(folder, "data"), x) // as repositories of data sets have it
		}
	}
	for _, name := range []string{"cuts.jsonl.gz", "cuts.jsonl", "supervisions.jsonl.gz", "supervisions.jsonl"} {
		if has[name] {
			return Open(ctx, filepath.Join(folder, name), x)
		}
	}
	return nil, nil
}

// named is the error of a manifest with the path before what is wrong with it.
func named(err error) error {
	if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) && err == error(wrong) {
		return fmt.Errorf("manifest %s: %w", wrong.Path, wrong.Err)
	}
	return fmt.Errorf("manifest %w", err)
}

func openAll(ctx context.Context, folder string, paths []string, x *Index) (*List, error) {
	l := new(List)
	for _, p := range paths {
		if _, err := l.add(ctx, p, x); err != nil {
			return nil, named(err)
		}
	}
	return l.done(folder, x)
}

// splitsOf lists the names before -00000-of-00003.parquet, or of the whole file, each once.
func splitsOf(paths []string) []string {
	var splits []string
	for _, p := range paths {
		split := stem(p)
		if parts := strings.Split(split, "-"); len(parts) >= 4 && parts[len(parts)-2] == "of" {
			split = strings.Join(parts[:len(parts)-3], "-")
		}
		if !slices.Contains(splits, split) {
			splits = append(splits, split)
		}
	}
	return splits
}
