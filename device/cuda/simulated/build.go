// Package simulated builds a CUDA card that is none: a driver (libcuda.so.1), cuBLAS and NVML of our own, which run
// the very kernels of op/*.cu, compiled by g++, on the host's memory. Only tests import it; README.md says what is
// simulated.
package simulated

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Options say what a build has beside the kernels of package op.
type Options struct {
	Kernels []string // further .cu files
}

// Libraries are the paths of what was built.
type Libraries struct {
	Driver  string // the simulated libcuda.so.1
	BLAS    string // the simulated cuBLAS, which works with Driver
	OldBLAS string // the same of an old version: it has no cublasSetWorkspace
	NVML    string // the simulated libnvidia-ml.so.1, which works with Driver
	Null    string // a driver and cuBLAS whose calls do nothing and succeed
	Given   bool   // they are those that Variable gives: there is no Control of such a card
}

// Build compiles the libraries, or finds them in the user's cache, under a key of everything that they are made of.
// It skips the test where there is no g++, and fails it there if CI is true. Processes that build the same wait for
// each other.
func Build(tb testing.TB, o Options) Libraries {
	tb.Helper()
	if l, given := fromEnvironment(); given {
		if len(o.Kernels) > 0 {
			tb.Skip("needs a simulated card with kernels of its own, and " + Variable + " gives another card")
		}
		tb.Logf("the card that %s gives, not one that is built here: %+v", Variable, l)
		return l
	}
	b, why := newBuilder()
	if why != "" {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("the simulated card can't be built: %s", why)
		}
		tb.Skipf("the simulated card can't be built, so nothing of it is tested: %s", why)
	}
	l, err := b.libraries(o)
	if err != nil {
		tb.Fatalf("building the simulated card: %v", err)
	}
	return l
}

// Variable is that of the environment which has tests run on another card: "real" is this machine's, by the system's
// own driver and cuBLAS; DRIVER:BLAS are the paths of libraries. bench/gpu.sh sets it on a machine with a card.
const Variable = "KONKANITRAIN_CUDA"

// fromEnvironment is the card that Variable gives, if it does.
func fromEnvironment() (l Libraries, given bool) {
	value := os.Getenv(Variable)
	l.Given = value != ""
	if value != "" && value != "real" {
		l.Driver, l.BLAS, _ = strings.Cut(value, ":")
	}
	return l, l.Given
}

// newBuilder finds the tools, or says what is missing.
func newBuilder() (*builder, string) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, "its threads are switched by code for linux/amd64, this is " + runtime.GOOS + "/" + runtime.GOARCH
	}
	b := &builder{limit: make(chan struct{}, max(2, min(runtime.NumCPU(), 4)))}
	for _, tool := range []struct {
		name string
		path *string
	}{{"g++", &b.compiler}, {"objcopy", &b.objcopy}} {
		p, err := exec.LookPath(tool.name)
		if err != nil {
			return nil, "no " + tool.name + " in the path"
		}
		*tool.path = p
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err.Error()
	}
	b.root = root
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	b.cache = filepath.Join(cache, "konkanitrain-simulated-card")
	return b, ""
}

// moduleRoot is the folder of go.mod, above the working directory: that of a test is its package's.
func moduleRoot() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", &os.PathError{Op: "looking above for go.mod", Path: here, Err: os.ErrNotExist}
		}
	}
}
