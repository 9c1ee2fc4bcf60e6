// Package testkit is what tests have in common: the shared reference data, comparisons that state their
// measure, gradients by finite differences, and random numbers from a fixed seed. Only tests import it.
package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Shared is the absolute path of the folder `shared` beside the repository's root. Where there is none the test
// is skipped, but it fails if the environment variable CI is `true`: there the folder has to be.
func Shared(t testing.TB) string {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(root), "shared")
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("the reference data is not there: no folder %s, and CI=true makes it a must", path)
	}
	t.Skipf("skipped: needs the reference data in %s", path)
	return ""
}

// Golden opens the golden tensors shared/reference/golden/NAME; name may leave out ".safetensors". The file is
// closed at the end of the test. Without the folder `shared` it does as Shared does.
func Golden(t testing.TB, name string) *Tensors {
	t.Helper()
	if !strings.HasSuffix(name, ".safetensors") {
		name += ".safetensors"
	}
	return OpenTensors(t, filepath.Join(Shared(t), "reference", "golden", name))
}

// repository finds the folder of go.mod above the working directory, which for a test is its package's folder.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod in any folder above the test")
		}
		dir = up
	}
}
