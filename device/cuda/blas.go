//go:build gpu

package cuda

/*
#cgo LDFLAGS: -ldl
#include "blas.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"gorgonia.org/cu"
)

// blas is cuBLAS on a card.
type blas struct {
	name      string // library and version
	handle    unsafe.Pointer
	workspace *buffer // nil for a cuBLAS that takes none
}

// openBLAS opens cuBLAS, at path or the newest that starts, on the card's thread.
func (c *card) openBLAS(path string) (*blas, error) {
	try := []library{{path: path}}
	if path == "" {
		try = libraries(c.info.Driver / 1000)
	}
	var reasons []error
	for _, l := range try {
		b, err := c.startBLAS(l)
		if err == nil {
			return b, nil
		}
		if e := (*Error)(nil); errors.As(err, &e) && e.Lost {
			return nil, err
		}
		reasons = append(reasons, err)
	}
	return nil, fmt.Errorf("%w that works with this driver (CUDA %s): install it by pip install nvidia-cublas-cu%d in the active environment, "+
		"or with the CUDA toolkit, or name its folder in LD_LIBRARY_PATH: %s",
		ErrNoBLAS, version(c.info.Driver), min(c.info.Driver/1000, newestBLAS), list_(reasons))
}

// startBLAS makes a handle of one library, with a workspace.
func (c *card) startBLAS(l library) (*blas, error) {
	name, helper := C.CString(l.path), C.CString(l.helper)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(helper))
	if why := C.blas_open(name, helper); why != nil {
		return nil, errors.New(C.GoString(why))
	}
	b := &blas{}
	var version C.int
	if err := blasError("cublasCreate of "+l.path, int(C.blas_create(&b.handle, unsafe.Pointer(c.work.C()), &version))); err != nil {
		return nil, err
	}
	b.name = fmt.Sprintf("%s (%d)", filepath.Base(l.path), int(version))
	return b, nil
}
