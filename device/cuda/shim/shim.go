//go:build gpu

// Package shim lets a program that uses gorgonia.org/cu link without a CUDA toolkit and start without a driver. It
// defines all the driver's functions itself, as jumps through a table that [Open] fills from the real library.
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

// places are where the system's driver is: where the loader looks, then where containers and WSL put it.
var places = []string{
	"libcuda.so.1",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/usr/lib64/libcuda.so.1",
	"/usr/lib64-nvidia/libcuda.so.1",
	"/usr/local/nvidia/lib64/libcuda.so.1",
	"/usr/lib/wsl/lib/libcuda.so.1",
}

var (
	mu     sync.Mutex
	opened string
)

// NotFound is the error where there is no driver's library.
type NotFound struct {
	Reasons []string // of each place, what the loader said
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
func Open(path string) (string, error) {
	mu.Lock()
	defer mu.Unlock()
	if opened != "" {
		if path != "" && path != opened {
			return "", fmt.Errorf("the CUDA driver %s is open in this process, %s can't be opened beside it", opened, path)
		}
		return opened, nil
	}
	try := places
	if path != "" {
		try = []string{path}
	}
	missing := &NotFound{}
	for _, p := range try {
		switch code := open(p); code {
		case 0:
			opened = p
			return p, nil
		case C.SHIM_NO_LIBRARY:
			missing.Reasons = append(missing.Reasons, C.GoString(C.shim_why()))
		default:
			return "", &NotStarted{p, code}
		}
	}
	return "", missing
}

func open(path string) int {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return int(C.shim_open(name))
}
