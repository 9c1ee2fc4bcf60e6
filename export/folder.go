package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/words"
)

// listFile is the file of an export that lists the others. By it an export is known for one.
const listFile = "export.json"

// listFormat begins the list of an export.
const listFormat = "konkanitrain export 1"

// listing is the content of the list.
type listing struct {
	Format  string            `json:"format"`
	Version string            `json:"version,omitempty"` // of the program
	Files   map[string]listed `json:"files"`
}

type listed struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Check is the problem with writing an export into a folder: something is there that is none, or one is there and force
// doesn't say that it is to be replaced.
func Check(dir string, force bool) error {
	_, err := inTheWay(dir, force)
	return err
}

// inTheWay lists the files of the export in dir that is to be replaced; none where there is none.
func inTheWay(dir string, force bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s is, or lies in, what is no folder that can be read: %w", dir, err)
	case len(entries) == 0:
		return nil, nil
	}
	list, err := readListing(dir)
	if err != nil {
		return nil, fmt.Errorf("%s is there and no export (%w): give the name of a folder that is not there yet", dir, err)
	}
	var files []string
	for _, e := range entries {
		if _, known := list.Files[e.Name()]; !known && e.Name() != listFile {
			return nil, fmt.Errorf("%s is an export with files in it that are not the export's, such as %s: move them away first, or give another folder", dir, e.Name())
		}
		files = append(files, e.Name())
	}
	if !force {
		return nil, fmt.Errorf("%s is an export already: give another folder, or --force, which replaces it", dir)
	}
	return files, nil
}

func readListing(dir string) (*listing, error) {
	b, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil {
		return nil, fmt.Errorf("it has no %s", listFile)
	}
	l := &listing{}
	if err := json.Unmarshal(b, l); err != nil || l.Format != listFormat {
		return nil, fmt.Errorf("its %s is none of this program's", listFile)
	}
	return l, nil
}

// writeFolder writes the files of an export, which is whole or not there, and the list of them. It says how many bytes
// they have.
func writeFolder(dir, version string, files []file, force bool) (total int64, err error) {
	before, err := inTheWay(dir, force)
	if err != nil {
		return 0, err
	}
	list := listing{Format: listFormat, Version: version, Files: map[string]listed{}}
	old, err := checkpoint.WriteFolder(dir, func(create checkpoint.Create) error {
		for _, f := range files {
			sum := &counted{hash: sha256.New()}
			if err := create(f.name, func(w io.Writer) error { return f.write(io.MultiWriter(w, sum)) }); err != nil {
				return err
			}
			list.Files[f.name] = listed{sum.bytes, hex.EncodeToString(sum.hash.Sum(nil))}
			total += sum.bytes
		}
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		return create(listFile, func(w io.Writer) error {
			_, err := w.Write(append(text, '\n'))
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("the export %s: %w", dir, err)
	}
	if old != "" {
		for _, name := range before {
			err = errors.Join(err, os.Remove(filepath.Join(old, name)))
		}
		if err = errors.Join(err, os.Remove(old)); err != nil {
			return 0, fmt.Errorf("the export %s is written, and what was there before is left: %w", dir, err)
		}
	}
	return total, nil
}

// leftovers are folders of exports into dir that were killed.
func leftovers(dir string) (warnings []string) {
	found, _ := filepath.Glob(strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`).Replace(checkpoint.PartialFolder(dir)) + "*")
	if len(found) > 0 {
		slices.Sort(found)
		warnings = append(warnings, fmt.Sprintf("left by an export that was stopped, or is going on: %s", words.List(found, 5)))
	}
	return warnings
}

// counted adds up what is written to it.
type counted struct {
	hash  hash.Hash
	bytes int64
}

// Write counts b in.
func (c *counted) Write(b []byte) (int, error) {
	c.bytes += int64(len(b))
	return c.hash.Write(b)
}
