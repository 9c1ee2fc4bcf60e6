// Package ptx knows how the committed PTX files of kernels hang together with their sources: NAME.cu and the .cuh files
// that it includes become NAME.ptx, whose first line holds a hash of them all. Who has no compiler of NVIDIA's can
// still tell whether a file is what its sources say. The program in generate compiles them.
package ptx

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Source is a .cu file with everything that it includes.
type Source struct {
	Name    string // of the file: "swish.cu"
	Text    string
	Headers []Header // each once, sorted by name
}

// Header is an included file.
type Header struct{ Name, Text string }

var include = regexp.MustCompile(`(?m)^\s*#\s*include\s*["<]([^">]+)[">]`)

// simulatorsOwn is the header that sources include for g++ only, where CUDASIM is defined.
const simulatorsOwn = "cudasim.h"

// Read reads a .cu file of a folder and what it includes, which has to lie there too. An error names the file.
func Read(folder, name string) (Source, error) {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return Source{}, err
	}
	s := Source{Name: name, Text: string(text)}
	queue := []Header{{name, s.Text}}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, match := range include.FindAllStringSubmatch(from.Text, -1) {
			header := match[1]
			if header == simulatorsOwn || slices.ContainsFunc(s.Headers, func(h Header) bool { return h.Name == header }) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, header))
			if err != nil {
				return Source{}, fmt.Errorf("%s includes %s, and kernels include nothing but .cuh files beside them: %w", from.Name, header, err)
			}
			s.Headers = append(s.Headers, Header{header, string(text)})
			queue = append(queue, s.Headers[len(s.Headers)-1])
		}
	}
	slices.SortFunc(s.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// Output is the name of the file that s is compiled to: "swish.ptx".
func (s Source) Output() string { return strings.TrimSuffix(s.Name, ".cu") + ".ptx" }

// FirstLine is that of the output, without its end: a hash of all names and texts.
func (s Source) FirstLine() string {
	h := sha256.New()
	for _, f := range append([]Header{{s.Name, s.Text}}, s.Headers...) {
		fmt.Fprintf(h, "%s %d\n%s", f.Name, len(f.Text), f.Text)
	}
	return fmt.Sprintf("// source %x", h.Sum(nil))
}

// File is the content of the output: the first line and what the compiler said, without its comments.
func (s Source) File(compiled string) string {
	var b strings.Builder
	b.WriteString(s.FirstLine() + "\n")
	for line := range strings.Lines(compiled) {
		if text := strings.TrimRight(line, " \t\n"); text != "" && !strings.HasPrefix(strings.TrimSpace(text), "//") {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// Sources reads all .cu files of a folder, sorted by name.
func Sources(folder string) ([]Source, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.cu"))
	if err != nil {
		return nil, err
	}
	var sources []Source
	for _, f := range files {
		s, err := Read(folder, filepath.Base(f))
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// Stale says what of a folder's .ptx files is not what its .cu files ask for: missing, older than a source, or left
// over from one.
func Stale(folder string) (complaints []string, err error) {
	sources, err := Sources(folder)
	if err != nil {
		return nil, err
	}
	outputs, err := filepath.Glob(filepath.Join(folder, "*.ptx"))
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		name := filepath.Join(folder, s.Output())
		outputs = slices.DeleteFunc(outputs, func(o string) bool { return o == name })
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			complaints = append(complaints, fmt.Sprintf("%s has no %s", s.Name, s.Output()))
			continue
		} else if err != nil {
			return nil, err
		}
		if first, _, _ := strings.Cut(string(text), "\n"); first != s.FirstLine() {
			complaints = append(complaints, fmt.Sprintf("%s begins with %q, its source with its headers has %q", s.Output(), first, s.FirstLine()))
		}
	}
	for _, o := range outputs {
		complaints = append(complaints, fmt.Sprintf("%s has no source", filepath.Base(o)))
	}
	return complaints, nil
}
