//go:build gpu

// Package shim lets a program that uses gorgonia.org/cu and go-nvml link without a CUDA toolkit and start without a
// driver. It defines all functions of both libraries itself, as jumps through tables that [Open] and [OpenNVML] fill
// from the real ones.
//
// It needs what the program gencuda writes, and its folder of libraries in CGO_LDFLAGS.
package shim

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// folders are where the driver's libraries are: where the loader looks, then where distributions, containers and WSL
// put them.
var folders = []string{
	"",
	"/usr/lib/x86_64-linux-gnu/",
	"/usr/lib64/",
	"/usr/lib64-nvidia/",
	"/usr/local/nvidia/lib64/",
	"/usr/lib/wsl/lib/",
}

// library is one that is opened once for the process.
type library struct {
	what, name string
	open       func(path *C.char) C.int
	opened     string // "" as long as it isn't
}

var (
	mu     sync.Mutex // of both, and of what the C code says
	driver = library{what: "CUDA driver", name: "libcuda.so.1", open: func(path *C.char) C.int { return C.shim_open_cuda(path) }}
	nvml   = library{what: "NVML", name: "libnvidia-ml.so.1", open: func(path *C.char) C.int { return C.shim_open_nvml(path) }}
)

// NotFound is the error where a library isn't there.
type NotFound struct {
	Reasons []string // of each place, what the loader said: its name, and what is wrong with it
}

// Error lists the places.
func (e *NotFound) Error() string { return strings.Join(e.Reasons, "; ") }

// NotStarted is the error of a driver that is there and does not start.
type NotStarted struct {
	Library string
	Code    int // of cuInit
}

// Error says the code.
func (e *NotStarted) Error() string {
	return fmt.Sprintf("cuInit of %s returned error %d", e.Library, e.Code)
}

// Open loads and starts the driver, once for the process, and returns its library's name. An empty path looks for the
// system's. An error is a *NotFound, a *NotStarted, or says that another driver is open.
func Open(path string) (string, error) { return driver.load(path) }

// OpenNVML loads NVML, once for the process, and returns its library's name. An empty path looks for the system's.
func OpenNVML(path string) (string, error) { return nvml.load(path) }

func (l *library) load(path string) (string, error) {
	mu.Lock()
	defer mu.Unlock()
	if l.opened != "" {
		if path != "" && path != l.opened {
			return "", fmt.Errorf("the %s in %s is open in this process, %s can't be opened beside it", l.what, l.opened, path)
		}
		return l.opened, nil
	}
	var try []string
	for _, f := range folders {
		try = append(try, f+l.name)
	}
	if path != "" {
		try = []string{path}
	}
	missing := &NotFound{}
	for _, p := range try {
		switch code := int(l.at(p)); code {
		case 0:
			l.opened = p
			return p, nil
		case C.SHIM_NO_LIBRARY:
			missing.Reasons = append(missing.Reasons, C.GoString(C.shim_why()))
		default:
			return "", &NotStarted{p, code}
		}
	}
	return "", missing
}

func (l *library) at(path string) C.int {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return l.open(name)
}
