//go:build gpu

package cuda

/*
#include <cuda.h>
#include <stdlib.h>

// load_module compiles and loads PTX. The driver's compiler writes what it has to say to log.
static int load_module(CUmodule *m, const char *image, char *log, size_t size) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)size};
	return cuModuleLoadDataEx(m, image, 2, options, values);
}
*/
import "C"

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"gorgonia.org/cu"
)

// logBytes is how much the driver's compiler may say.
const logBytes = 8 << 10

// Load compiles modules for this card, in the order of their names. The driver keeps what it has compiled in a cache on
// disk.
func (c *card) Load(modules map[string][]byte) error {
	return c.on(func() error {
		for _, name := range slices.Sorted(maps.Keys(modules)) {
			m, err := load(name, modules[name])
			if err != nil {
				return err
			}
			c.modules = append(c.modules, m)
		}
		return nil
	})
}

func load(name string, ptx []byte) (m cu.Module, err error) {
	image := C.CString(string(ptx))
	defer C.free(unsafe.Pointer(image))
	log := (*C.char)(C.calloc(logBytes, 1))
	defer C.free(unsafe.Pointer(log))
	code := int(C.load_module((*C.CUmodule)(unsafe.Pointer(&m)), image, log, logBytes))
	if err := driverError("cuModuleLoadDataEx", "", code); err != nil {
		said := strings.TrimSpace(C.GoStringN(log, logBytes-1))
		if said, _, _ = strings.Cut(said, "\x00"); said != "" {
			return m, fmt.Errorf("the kernels of %s: %w: its compiler says: %s", name, err, said)
		}
		return m, fmt.Errorf("the kernels of %s: %w", name, err)
	}
	return m, nil
}

// function looks a kernel up among those of all modules, on the card's thread.
func (c *card) function(kernel string) (cu.Function, error) {
	if f, ok := c.functions[kernel]; ok {
		return f, nil
	}
	for _, m := range c.modules {
		f, err := m.Function(kernel)
		switch {
		case err == nil:
			c.functions[kernel] = f
			return f, nil
		case codeOf(err) != codeNotFound:
			return f, driverError("cuModuleGetFunction", kernel, codeOf(err))
		}
	}
	return cu.Function{}, fmt.Errorf("no kernel %s in the %d modules that are loaded on %s", kernel, len(c.modules), c.Name())
}
