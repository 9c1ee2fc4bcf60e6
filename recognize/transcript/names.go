package transcript

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Names are what recordings are called in a [CTM]: each by its file's name without folder and extension, unless another
// file has that name already. Then folders come before it, as many as tell them apart, or the extension behind it, or a
// number.
type Names struct {
	of    map[string]string // the name of each file
	owner map[string]string // the file of each name
	apart []string          // those that were told apart, with their names
}

// Of is the name of a file; for the same file it is the same.
func (n *Names) Of(path string) string {
	path = filepath.Clean(path)
	if name, known := n.of[path]; known {
		return name
	}
	if n.of == nil {
		n.of, n.owner = map[string]string{}, map[string]string{}
	}
	usual := word(withoutEnding(filepath.Base(path)))
	name := usual
	for candidate := range longer(path) {
		if name = candidate; n.owner[name] == "" {
			break
		}
	}
	n.of[path], n.owner[name] = name, path
	if name != usual {
		n.apart = append(n.apart, fmt.Sprintf("%s is %s", path, name))
	}
	return name
}

// Apart are the files that have more than their usual name, each with what it is called.
func (n *Names) Apart() []string { return slices.Clone(n.apart) }

// longer are the names that a file may have, the usual one first, without an end.
func longer(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		bare := strings.Split(filepath.ToSlash(withoutEnding(path)), "/")
		bare = slices.DeleteFunc(bare, func(s string) bool { return s == "" || s == ".." })
		for k := range bare {
			if !yield(word(strings.Join(bare[len(bare)-1-k:], "_"))) {
				return
			}
		}
		whole := word(filepath.Base(path))
		for i := 1; ; i++ {
			if !yield(whole) {
				return
			}
			whole = fmt.Sprintf("%s_%d", word(filepath.Base(path)), i+1)
		}
	}
}

// word is a name as one word that begins no comment.
func word(name string) string {
	name = strings.Join(strings.Fields(name), "_")
	if rest, comment := strings.CutPrefix(name, ";"); comment {
		return "_" + rest
	}
	return name
}
