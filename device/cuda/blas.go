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
	"os"
	"strings"
	"unsafe"

	"konkanitrain/device"
)

// blas is cuBLAS on a card.
type blas struct {
	name      string // library and version
	version   string // "12.4.5"
	handle    unsafe.Pointer
	workspace *buffer // nil for a cuBLAS that takes none
}

// openBLAS opens cuBLAS, at path or the newest that starts, on the card's thread.
func (c *card) openBLAS(path string) (*blas, error) {
	try := []library{{path: path}}
	if path == "" {
		try = libraries(c.info.Driver/1000, os.Getenv, "/")
	}
	var reasons []string
	for _, l := range try {
		b, err := c.startBLAS(l)
		if err == nil {
			return b, nil
		}
		var short *device.OutOfMemory
		if e := (*Error)(nil); errors.As(err, &e) && e.Lost || errors.As(err, &short) {
			return nil, err
		}
		reasons = append(reasons, err.Error())
	}
	if path != "" {
		return nil, fmt.Errorf("%w in the file that was named for it: %s; name a libcublas.so that is not newer than the driver, "+
			"which knows CUDA %s, or none: then the newest is looked for", ErrNoBLAS, reasons[0], version(c.info.Driver))
	}
	v := min(c.info.Driver/1000, newestBLAS)
	wheel := "nvidia-cublas"
	if v < 13 {
		wheel += fmt.Sprintf("-cu%d", v)
	}
	return nil, fmt.Errorf("%w that works with this driver, which knows CUDA %s: install one (pip install %s in the active "+
		"environment, or the CUDA toolkit %d), or put the folder of libcublas.so.%d into LD_LIBRARY_PATH; tried: %s",
		ErrNoBLAS, version(c.info.Driver), wheel, v, v, strings.Join(reasons, "; "))
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
	b.version = blasVersion(int(version))
	b.name = l.path + " " + b.version
	if C.blas_takes_workspace() == 0 {
		return b, nil
	}
	var err error
	if b.workspace, err = c.alloc(workspaceBytes(c.info), "the workspace of cuBLAS"); err == nil {
		err = blasError("cublasSetWorkspace", int(C.blas_set_workspace(b.handle, C.uint64_t(b.workspace.address), C.size_t(b.workspace.size))))
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// productError is the error of a product that cuBLAS refused. cuBLAS hides what the driver said: where the context is
// lost a wait tells.
func (c *card) productError(status int) error {
	err := blasError("cublasGemmStridedBatchedEx", status)
	if lost := c.waitWork(); lost != nil {
		return fmt.Errorf("%w: %w", err, lost)
	}
	return err
}

// workspaceBytes is what cuBLAS's documentation wants for a card.
func workspaceBytes(i Info) int64 {
	if i.Major >= 9 {
		return 32 << 20
	}
	return 4 << 20
}

// blasVersion is "11.11.3" for 111103: cublasGetVersion counts by 10000, 100 and 1.
func blasVersion(v int) string { return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100) }

// size is how many bytes of the card's memory the workspace takes.
func (b *blas) size() int64 {
	if b.workspace == nil {
		return 0
	}
	return b.workspace.size
}

// close gives the handle and the workspace back, on the card's thread.
func (b *blas) close() {
	C.blas_destroy(b.handle)
	if b.workspace != nil {
		b.workspace.free()
	}
}

// product is a product as cuBLAS takes it. To BLAS, which goes by columns, a row-major C is the transposed of C, and
// that is the transposed of op(B) times that of op(A).
func product(p *Product, address func(Ref) C.uint64_t) C.blas_product {
	return C.blas_product{
		transa: flag(p.TransB), transb: flag(p.TransA), m: C.int(p.N), n: C.int(p.M), k: C.int(p.K), batch: C.int(p.Batch),
		alpha: C.float(p.Alpha), beta: C.float(p.Beta),
		a: matrix(p.B, address), b: matrix(p.A, address), c: matrix(p.C, address),
	}
}

func matrix(m Matrix, address func(Ref) C.uint64_t) C.blas_matrix {
	const float32s, float16s = 0, 2 // CUDA_R_32F, CUDA_R_16F
	b := C.blas_matrix{address: address(m.Ref), _type: float32s, ld: C.int(m.Row), stride: C.longlong(m.Stride)}
	if m.Half {
		b._type = float16s
	}
	return b
}
