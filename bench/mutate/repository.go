package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// unchanged are directories, relative to the module's root, that hold no production code.
var unchanged = []string{"bench", "examples", "internal/simd/gen", "internal/testkit"}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
}

// repository is a module with all of its packages, as they are built on this machine.
type repository struct {
	root     string                // the directory of go.mod
	packages map[string]*goPackage // by import path
}

// loadRepository reads the packages of the module that dir lies in.
func loadRepository(ctx context.Context, dir string) (*repository, error) {
	out, err := goCommand(ctx, dir, "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	mod := string(bytes.TrimSpace(out))
	if filepath.Base(mod) != "go.mod" {
		return nil, fmt.Errorf("%s lies in no Go module: start mutate inside the repository", dir)
	}
	r := &repository{root: filepath.Dir(mod), packages: map[string]*goPackage{}}
	out, err = goCommand(ctx, r.root, "list",
		"-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return r, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		r.packages[p.ImportPath] = &p
	}
}

// match returns the import paths of the packages that patterns name, seen from dir; without patterns, all there are.
func (r *repository) match(ctx context.Context, dir string, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return slices.Sorted(maps.Keys(r.packages)), nil
	}
	out, err := goCommand(ctx, dir, append([]string{"list", "--"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	paths := strings.Fields(string(out))
	for _, p := range paths {
		if r.packages[p] == nil {
			return nil, fmt.Errorf("--packages: %s is no package of the module in %s", p, r.root)
		}
	}
	return paths, nil
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, complaint.Bytes())
	}
	return out, nil
}

// changes returns every change that can be made to the module's production code, by package, file and line, and the
// number of lines of each package.
func (r *repository) changes() (all []change, lines map[string]int, err error) {
	lines = map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(r.packages)) {
		p := r.packages[path]
		for _, name := range p.GoFiles {
			rel, err := filepath.Rel(r.root, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, nil, err
			}
			rel = filepath.ToSlash(rel)
			if !production(rel) {
				continue
			}
			src, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, nil, err
			}
			found, err := fileChanges(path, rel, src)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, found...)
			lines[path] += bytes.Count(src, []byte("\n"))
		}
	}
	return all, lines, nil
}

// production says whether a file, relative to the module's root, is code whose behavior the tests have to hold.
// Generated files are recognized elsewhere, by their first lines.
func production(file string) bool {
	for _, dir := range unchanged {
		if strings.HasPrefix(file, dir+"/") {
			return false
		}
	}
	kernels, _ := filepath.Match("kernels_*.go", filepath.Base(file))
	return !kernels && !strings.Contains("/"+file, "/testdata/")
}

// testers returns the packages whose tests may notice a change of the package path: itself, then those that import
// it, nearest first. Only packages with tests are in it.
func (r *repository) testers(path string) []string {
	distance := map[string]int{path: 0} // of a package's own code, in imports
	for edge, d := []string{path}, 1; len(edge) > 0; d++ {
		var next []string
		for _, p := range r.packages {
			if _, known := distance[p.ImportPath]; !known && containsAny(p.Imports, edge) {
				next = append(next, p.ImportPath)
			}
		}
		for _, p := range next {
			distance[p] = d
		}
		edge = next
	}
	byTests := map[string]int{}
	for _, p := range r.packages {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		if d, ok := distance[p.ImportPath]; ok {
			byTests[p.ImportPath] = d
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			if d, ok := distance[imported]; ok {
				if known, ok := byTests[p.ImportPath]; !ok || d+1 < known {
					byTests[p.ImportPath] = d + 1
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(byTests), func(a, b string) int {
		return cmp.Or(cmp.Compare(byTests[a], byTests[b]), cmp.Compare(a, b))
	})
}

func containsAny(list, wanted []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(wanted, s) })
}

// parses says whether src is a Go file.
func parses(src []byte) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	return err == nil
}
