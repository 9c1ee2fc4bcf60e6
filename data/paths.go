package data

import (
	"os"
	"path/filepath"
	"strings"
)

// resolver finds the files that a manifest names.
type resolver struct {
	base  string // the manifest's folder
	maps  []Mapping
	clips bool // look in clips/ as well
}

// find returns the file that written stands for and whether it exists; if it doesn't, the path is the first
// place that was looked at.
func (r resolver) find(written string) (string, bool) {
	first := ""
	for _, c := range r.candidates(written) {
		if first == "" {
			first = c
		}
		if s, err := os.Stat(c); err == nil && !s.IsDir() {
			return c, true
		}
	}
	return first, false
}

func (r resolver) candidates(written string) []string {
	if strings.ContainsRune(written, 0) {
		return []string{written} // no file system has it, and os.Stat says so
	}
	forms := []string{written}
	if slashed := slashes(written); slashed != written {
		forms = append(forms, slashed)
	}
	for _, m := range r.maps {
		if mapped, ok := m.apply(written); ok {
			forms = []string{mapped}
			break
		}
	}
	var out []string
	for _, f := range forms {
		out = append(out, r.join("", f))
		if r.clips {
			out = append(out, r.join("clips", f))
		}
	}
	return out
}

func (r resolver) join(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.base, folder, filepath.FromSlash(path))
}

// apply compares with slashes on both sides, so that a mapping for paths of Windows can be written either way.
func (m Mapping) apply(written string) (string, bool) {
	from, path := strings.TrimRight(slashes(m.From), "/"), slashes(written)
	rest, ok := strings.CutPrefix(path, from)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimRight(m.To, "/") + rest, true
}

func slashes(s string) string { return strings.ReplaceAll(s, `\`, "/") }
