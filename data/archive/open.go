package archive

import (
	"context"
	"fmt"
	"io"
	"os"
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
			return nil, fmt.Errorf("manifest %w", err)
		case !known && len(paths) > 1:
			return nil, fmt.Errorf("manifest %s: it stands for %d files, and %s is neither a tar, a Parquet file nor a list of Lhotse's",
				path, len(paths), p)
		case !known:
			return nil, nil
		}
	}
	if len(paths) > 1 && strings.ContainsAny(path, "*?[") {
		l.missing(paths)
	}
	return l.done(path, x)
}

// done looks at the whole.
func (l *List) done(path string, x *Index) (*List, error) {
	if len(l.Rows) == 0 {
		why := ""
		if len(l.Notes) > 0 {
			why = " (" + l.Notes[0] + ")"
		}
		return nil, fmt.Errorf("manifest %s: nothing is in it%s", path, why)
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
	case strings.HasSuffix(name, ".parquet"):
		return "parquet", nil // a damaged one
	}
	return "", nil
}
