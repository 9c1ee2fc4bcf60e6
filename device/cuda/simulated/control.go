//go:build gpu

package simulated

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// A call with its arguments in 8-byte cells: so they lie on this machine for numbers and pointers alike.
typedef uint64_t u;
static long long call(void *f, const u *a) {
	return ((long long (*)(u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u))f)(
		a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
		a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// Control changes a simulated card while a test runs, and tells what it has seen. It reaches the driver that the
// process has opened, or opens it.
type Control struct {
	library unsafe.Pointer
	path    string
}

// Any is the call of a [Fault] that any call of the driver or cuBLAS is.
const Any = ""

// Fault is an error that a call returns without having done anything.
type Fault struct {
	Call   string // "cuMemAlloc": a name without the suffix _v2
	N      int    // the N-th such call from now on, from 1
	Code   int    // what it returns
	Sticky bool   // the context is lost: all later calls return it too
}

// Control opens the driver, and brings it back to the settings of the environment, now and when the test ends. A
// finding that the test has not taken by then fails it. All cards of the process must be closed at both times.
func (l Libraries) Control(tb testing.TB) *Control {
	tb.Helper()
	if l.Given {
		tb.Skip("needs a simulated card that does what the test tells it, and " + Variable + " gives another one")
	}
	c := &Control{open(tb, l.Driver), l.Driver}
	if c.call("cudasim_reset") != 0 {
		tb.Fatal("a simulated card is open: close it before taking its control")
	}
	tb.Cleanup(func() {
		if found := c.Findings(); len(found) > 0 {
			tb.Errorf("the simulated card has found: %s", strings.Join(found, "; "))
		}
		if c.call("cudasim_reset") != 0 {
			tb.Error("a simulated card is still open at the end of the test")
		}
	})
	return c
}

// Set changes a setting of README.md: Set("lazy", "1").
func (c *Control) Set(name, value string) error {
	n, v := C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(n))
	defer C.free(unsafe.Pointer(v))
	if c.call("cudasim_set", address(n), address(v)) != 0 {
		return errors.New(strings.Join(c.Findings(), "; "))
	}
	return nil
}

// Fail makes faults.
func (c *Control) Fail(faults ...Fault) {
	for _, f := range faults {
		name := C.CString(f.Call)
		sticky := uint64(0)
		if f.Sticky {
			sticky = 1
		}
		c.call("cudasim_fail", address(name), uint64(max(f.N, 1)), uint64(f.Code), sticky)
		C.free(unsafe.Pointer(name))
	}
}

// Forgive forgets the faults that haven't happened yet.
func (c *Control) Forgive() {
	name := C.CString(Any)
	defer C.free(unsafe.Pointer(name))
	c.call("cudasim_fail", address(name), 0, 0, 0)
}

// Take lets another process take bytes of a card, or give them back where negative. It says whether there were so
// many.
func (c *Control) Take(card int, bytes int64) bool {
	return int32(c.call("cudasim_take", uint64(card), uint64(bytes))) == 0
}

// Count is how often a call was made, of all calls for [Any]; or how many there are of "live allocations", "live
// bytes", "live pinned", "live streams", "live events", "live graphs", "live contexts".
func (c *Control) Count(call string) int64 {
	name := C.CString(call)
	defer C.free(unsafe.Pointer(name))
	return int64(c.call("cudasim_count", address(name)))
}

// Findings are the mistakes that the card has found since they were last asked for, in words.
func (c *Control) Findings() []string {
	buffer := (*C.char)(C.malloc(1 << 20))
	defer C.free(unsafe.Pointer(buffer))
	c.call("cudasim_findings", address(buffer), 1<<20)
	return strings.FieldsFunc(C.GoString(buffer), func(r rune) bool { return r == '\n' })
}

// open loads a library.
func open(tb testing.TB, path string) unsafe.Pointer {
	tb.Helper()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	library := C.dlopen(name, C.RTLD_NOW|C.RTLD_GLOBAL)
	if library == nil {
		tb.Fatalf("opening a simulated library: %s", C.GoString(C.dlerror()))
	}
	return library
}

func address[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// call calls a function of the library, which the build has seen to be there.
func (c *Control) call(symbol string, args ...uint64) int64 {
	r, err := call(c.library, symbol, args...)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", c.path, err))
	}
	return r
}

func call(library unsafe.Pointer, symbol string, args ...uint64) (int64, error) {
	name := C.CString(symbol)
	defer C.free(unsafe.Pointer(name))
	f := C.dlsym(library, name)
	if f == nil {
		return 0, errors.New(C.GoString(C.dlerror()))
	}
	cells := (*[24]C.uint64_t)(C.calloc(24, 8))
	defer C.free(unsafe.Pointer(cells))
	for i, a := range args {
		cells[i] = C.uint64_t(a)
	}
	r := C.call(f, &cells[0])
	runtime.KeepAlive(args)
	return int64(r), nil
}
