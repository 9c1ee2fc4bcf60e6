package data

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// resolver finds the files that a manifest names. It may be used by several goroutines.
type resolver struct {
	base  string // the manifest's folder
	maps  []Mapping
	clips bool // look in clips/ as well

	mu      sync.Mutex
	folders map[string]map[string]string // of each folder that was listed: names as they are, by their NFC form
}

// find returns the file that written stands for and whether it exists; if it doesn't, the path is the first
// place that was looked at. Where no file has the literal name, one whose name differs in its Unicode form alone is
// taken: the names of a Mac are decomposed, lists often aren't, and both look the same.
func (r *resolver) find(written string) (string, bool) {
	places := r.candidates(written)
	for _, p := range places {
		if isFile(p) {
			return p, true
		}
	}
	for _, p := range places {
		if p, ok := r.otherForm(p); ok && isFile(p) {
			return p, true
		}
	}
	return places[0], false
}

func isFile(path string) bool {
	s, err := os.Stat(path)
	return err == nil && !s.IsDir()
}

// candidates are the places where the file may be, at least one.
func (r *resolver) candidates(written string) []string {
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

func (r *resolver) join(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.base, folder, filepath.FromSlash(path))
}

// otherForm finds what is there under the name of path in any Unicode form, element by element.
func (r *resolver) otherForm(path string) (string, bool) {
	if !strings.ContainsFunc(path, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return "", false // ASCII has one form
	}
	if _, err := os.Lstat(path); err == nil {
		return path, true
	}
	folder, ok := filepath.Dir(path), true
	if folder == path {
		return "", false
	}
	if _, err := os.Lstat(folder); err != nil {
		if folder, ok = r.otherForm(folder); !ok {
			return "", false
		}
	}
	name, ok := r.names(folder)[norm.NFC.String(filepath.Base(path))]
	return filepath.Join(folder, name), ok
}

// names lists a folder once.
func (r *resolver) names(folder string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if names, ok := r.folders[folder]; ok {
		return names
	}
	if r.folders == nil {
		r.folders = map[string]map[string]string{}
	}
	names := map[string]string{}
	entries, _ := os.ReadDir(folder) // what can't be listed has no names, and the file is reported as missing
	for _, e := range entries {
		names[norm.NFC.String(e.Name())] = e.Name()
	}
	r.folders[folder] = names
	return names
}

// apply compares with slashes on both sides, so that a mapping for paths of Windows can be written either way.
func (m Mapping) apply(written string) (string, bool) {
	rest, ok := strings.CutPrefix(slashes(written), m.from())
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimRight(m.To, "/") + rest, true
}

// from is what two mappings of the same paths have in common.
func (m Mapping) from() string { return strings.TrimRight(slashes(m.From), "/") }

func slashes(s string) string { return strings.ReplaceAll(s, `\`, "/") }

// tildeHint is what to say of a path that starts with ~, which only a shell understands; "" for all others.
func tildeHint(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return "; ~ is not expanded, write the home folder out"
	}
	return ""
}
