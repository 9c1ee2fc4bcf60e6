package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mostFiles is how many files a pattern may stand for.
const mostFiles = 100_000

// Expand lists the files that a pattern stands for: shard-{000..009}.tar and {a,b}.tar in the order of the braces,
// NeMo's _OP_0..9_CL_ like braces, and *, ? and [] as what is there by name, sorted. A path without a pattern, or one
// that is there as it is written, gives nil. It is an error if nothing is there that * stands for; whether what braces
// name is there, who opens it says.
func Expand(pattern string) ([]string, error) {
	if _, err := os.Lstat(pattern); err == nil {
		return nil, nil
	}
	braces := strings.NewReplacer("_OP_", "{", "_CL_", "}").Replace(pattern)
	if !strings.ContainsAny(braces, "{*?[") {
		return nil, nil
	}
	written, err := expandBraces(braces)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, w := range written {
		if !strings.ContainsAny(w, "*?[") {
			paths = append(paths, w)
			continue
		}
		found, err := glob(w)
		if err != nil {
			return nil, fmt.Errorf("the pattern %s: %w", w, err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no file is there that the pattern %s stands for", pattern)
	}
	return paths, nil
}

// glob lists what is there by a pattern, sorted, without hidden names as a shell does.
func glob(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	found = slices.DeleteFunc(found, func(p string) bool {
		return hidden(filepath.Base(p)) && !hidden(filepath.Base(pattern))
	})
	slices.Sort(found)
	return found, err
}

// expandBraces writes out braces, the leftmost first.
func expandBraces(s string) ([]string, error) {
	todo, out := []string{s}, []string{}
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		open := strings.IndexByte(s, '{')
		if open < 0 {
			out = append(out, s)
			continue
		}
		inner, after, ok := strings.Cut(s[open+1:], "}")
		if !ok {
			return nil, fmt.Errorf("the pattern %s: a { without a }", s)
		}
		parts, err := braceParts(inner)
		if err != nil || len(parts)+len(todo)+len(out) > mostFiles {
			return nil, fmt.Errorf("the pattern %s: {%s} must be a range such as {000..009} or a list such as {a,b}, "+
				"of %d files at most", s, inner, mostFiles)
		}
		for i, p := range parts {
			parts[i] = s[:open] + p + after
		}
		todo = append(parts, todo...)
	}
	return out, nil
}

func braceParts(inner string) ([]string, error) {
	low, high, ok := strings.Cut(inner, "..")
	if !ok {
		return strings.Split(inner, ","), nil
	}
	from, err := strconv.Atoi(low)
	if err != nil {
		return nil, err
	}
	to, err := strconv.Atoi(high)
	if err != nil {
		return nil, err
	}
	if from < 0 || to < from || to-from >= mostFiles {
		return nil, strconv.ErrRange
	}
	width := 0
	if strings.HasPrefix(low, "0") {
		width = len(low)
	}
	var parts []string
	for i := from; i <= to; i++ {
		parts = append(parts, fmt.Sprintf("%0*d", width, i))
	}
	return parts, nil
}
