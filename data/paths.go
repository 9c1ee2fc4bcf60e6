package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// resolver finds the files that a manifest names. It may be used by several goroutines.
type resolver struct {
	base    string // the manifest's folder
	maps    []Mapping
	places  []string // folders, from base, that are looked in as well
	parents bool     // look in the folders above base as well

	mu      sync.Mutex
	folders map[string]map[string]string // of each folder that was listed: names as they are, by their NFC form
}

// tablePlaces are where the sound of a table may be: beside it, or in the clips/ of a corpus of which it is a part.
var tablePlaces = []string{"clips", "../clips", "../../clips"}

// soundEndings are those that the same sound may have.
var soundEndings = []string{".wav", ".flac", ".mp3", ".ogg", ".opus", ".oga", ".m4a", ".sph"}

// find returns the file that written stands for and whether it exists; if it doesn't, the path is the first
// place that was looked at. Where no file has the literal name, one whose name differs in its Unicode form alone is
// taken: the names of a Mac are decomposed, lists often aren't, and both look the same. Where there is none of these
// either, one with another ending of sound is taken. instead is then the place that is empty.
func (r *resolver) find(written string) (path, instead string, found bool) {
	places := r.candidates(written)
	for _, p := range places {
		if isFile(p) {
			return p, "", true
		}
	}
	for _, p := range places {
		if other, ok := r.otherForm(p); ok && isFile(other) {
			return other, p, true
		}
	}
	for _, p := range places {
		if other, ok := r.otherEnding(p); ok {
			return other, p, true
		}
	}
	if isURL(written) && !slices.ContainsFunc(r.maps, func(m Mapping) bool { _, mapped := m.apply(written); return mapped }) {
		return written, "", false // a path would lose one of the slashes
	}
	return places[0], "", false
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
	mapped := false
	for _, m := range r.maps {
		var path string
		if path, mapped = m.apply(written); mapped {
			forms = []string{path}
			break
		}
	}
	if rest, ok := inDataRoot(written); ok && !mapped {
		forms = []string{rest}
	}
	var out []string
	for _, f := range forms {
		out = append(out, r.join("", f))
		if filepath.IsAbs(f) {
			continue
		}
		for _, place := range r.places {
			out = append(out, r.join(place, f))
		}
		if r.parents {
			out = append(out, r.above(f)...)
		}
	}
	return out
}

// inDataRoot is what stands behind the name that SpeechBrain's lists have for the folder of the data.
func inDataRoot(written string) (rest string, ok bool) {
	for _, root := range []string{"$data_root", "{data_root}", "${data_root}"} {
		if rest, ok := strings.CutPrefix(slashes(written), root); ok && (rest == "" || rest[0] == '/') {
			return strings.TrimLeft(rest, "/"), true
		}
	}
	return "", false
}

// above is path in each of the folders above the manifest's.
func (r *resolver) above(path string) []string {
	var out []string
	abs, err := filepath.Abs(r.base)
	if err != nil {
		return nil
	}
	for up := ".."; filepath.Dir(abs) != abs; up, abs = filepath.Join(up, ".."), filepath.Dir(abs) {
		out = append(out, r.join(up, path))
	}
	return out
}

// otherEnding finds a sound beside path that has its name with another ending.
func (r *resolver) otherEnding(path string) (string, bool) {
	stem := path
	if ending := filepath.Ext(path); slices.Contains(soundEndings, strings.ToLower(ending)) {
		stem = strings.TrimSuffix(path, ending)
	}
	names := r.names(filepath.Dir(path))
	for _, ending := range soundEndings {
		for _, e := range []string{ending, strings.ToUpper(ending)} {
			if name, ok := names[norm.NFC.String(filepath.Base(stem+e))]; ok && stem+e != path {
				if other := filepath.Join(filepath.Dir(path), name); isFile(other) {
					return other, true
				}
			}
		}
	}
	return "", false
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

// pathHint is what to say of a path that starts with ~, which only a shell understands, and of a URL; "" for all
// others.
func pathHint(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return "; ~ is not expanded, write the home folder out"
	}
	if isURL(path) {
		return "; a URL, and nothing is fetched: download the files, and map the paths to them (path_map)"
	}
	return ""
}

// isURL says whether a path starts with a scheme (RFC 3986, section 3.1), of two letters at least, and //.
func isURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && len(scheme) > 1 && !strings.ContainsFunc(scheme, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')
	})
}

// why says what keeps a file that written names from being found, beside that it isn't there: a folder that can't be
// entered, or one that has its name. nil if there is nothing else.
func (r *resolver) why(written string) error {
	for _, p := range r.candidates(written) {
		stat, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("%s: permission denied: this user can't look into its folder", p)
		case err == nil && stat.IsDir():
			return fmt.Errorf("%s is a folder, not a file of sound", p)
		}
	}
	return nil
}
