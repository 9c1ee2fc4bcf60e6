package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The versions of cuBLAS that have the functions used here.
const (
	oldestBLAS = 11
	newestBLAS = 13
)

// library is a cuBLAS that may be there.
type library struct {
	path   string // for the loader: a file, or a name that it looks for itself
	helper string // the library cublasLt beside it, "" where the loader finds that
}

// libraries are the places of cuBLAS, the newest version first, that works with a driver of CUDA version.x. A library
// is never newer than its driver. env is the environment ([os.Getenv]), and below is the root of the file system.
func libraries(version int, env func(string) string, below string) (all []library) {
	folders := blasFolders(env, below)
	for v := min(version, newestBLAS); v >= oldestBLAS; v-- {
		name := fmt.Sprintf("libcublas.so.%d", v)
		all = append(all, library{path: name}) // LD_LIBRARY_PATH and the system's own folders
		for _, f := range folders {
			if _, err := os.Stat(filepath.Join(f, name)); err == nil {
				all = append(all, library{path: filepath.Join(f, name), helper: filepath.Join(f, fmt.Sprintf("libcublasLt.so.%d", v))})
			}
		}
	}
	return all
}

// blasFolders are folders off the loader's path in which cuBLAS may be: a Python environment that is active, the
// toolkit's, and then those of Python packages of the system and the user.
func blasFolders(env func(string) string, below string) (folders []string) {
	add := func(patterns ...string) {
		found, _ := filepath.Glob(filepath.Join(patterns...)) // the patterns are well-formed
		slices.Reverse(found)                                 // newer versions first
		folders = append(folders, found...)
	}
	python := func(packages string) {
		add(packages, "nvidia", "cublas", "lib") // wheels of CUDA 11 and 12
		add(packages, "nvidia", "cu1[0-9]", "lib")
	}
	for _, active := range []string{env("VIRTUAL_ENV"), env("CONDA_PREFIX")} {
		if active != "" {
			python(filepath.Join(escape(active), "lib", "python3*", "site-packages"))
			add(escape(active), "lib")
		}
	}
	for _, toolkit := range []string{env("CUDA_HOME"), env("CUDA_PATH")} {
		if toolkit != "" {
			add(escape(toolkit), "lib64")
		}
	}
	root := escape(below)
	add(root, "usr/local/cuda", "lib64")
	add(root, "usr/local/cuda-*", "lib64")
	add(root, "opt/cuda", "lib64")
	python(filepath.Join(root, "usr/local/lib/python3*/dist-packages"))
	python(filepath.Join(root, "usr/local/lib/python3*/site-packages"))
	python(filepath.Join(root, "usr/lib/python3*/dist-packages"))
	if home := env("HOME"); home != "" {
		python(filepath.Join(escape(home), ".local/lib/python3*/site-packages"))
	}
	return folders
}

// escape lets a folder's name stand for itself in a pattern.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
