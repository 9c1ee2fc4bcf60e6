//go:build nvrtc

// Generate compiles a folder's .cu files to .ptx files with NVIDIA's run-time compiler, which it opens as it runs:
//
//	go run -tags nvrtc ./internal/ptx/generate --nvrtc libnvrtc.so.11.2 --from op --to op
//
// The version has to be 11.8, and the target is compute capability 6.0: what comes out is PTX 7.8, which the drivers of
// CUDA 11.8 and later compile for any card from 6.0 on. Files of --to that are as they should be are left alone.
package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

typedef void *program;
static int (*version)(int *, int *);
static int (*create)(program *, const char *, const char *, int, const char *const *, const char *const *);
static int (*compile)(program, int, const char *const *);
static int (*size)(program, size_t *), (*text)(program, char *), (*log_size)(program, size_t *), (*log_text)(program, char *);
static int (*destroy)(program *);

// open_compiler returns what is missing, or null.
static const char *open_compiler(const char *path) {
  void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!lib) return dlerror();
  struct { void *to; const char *name; } calls[] = {
    {&version, "nvrtcVersion"}, {&create, "nvrtcCreateProgram"}, {&compile, "nvrtcCompileProgram"}, {&size, "nvrtcGetPTXSize"},
    {&text, "nvrtcGetPTX"}, {&log_size, "nvrtcGetProgramLogSize"}, {&log_text, "nvrtcGetProgramLog"}, {&destroy, "nvrtcDestroyProgram"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!(*(void **)calls[i].to = dlsym(lib, calls[i].name))) return calls[i].name;
  return NULL;
}
static int compiler_version(void) {
  int major = 0, minor = 0;
  version(&major, &minor);
  return 100 * major + minor;
}
static int create_program(program *p, const char *source, const char *name, int n, char **headers, char **names) {
  return create(p, source, name, n, (const char *const *)headers, (const char *const *)names);
}
static int compile_program(program p, int n, char **options) { return compile(p, n, (const char *const *)options); }
static char *take(program p, int (*how_much)(program, size_t *), int (*get)(program, char *)) {
  size_t n = 0;
  if (how_much(p, &n)) return NULL;
  char *s = calloc(n + 1, 1);
  if (get(p, s)) { free(s); return NULL; }
  return s;
}
static char *take_text(program p) { return take(p, size, text); }
static char *take_log(program p) { return take(p, log_size, log_text); }
static void destroy_program(program *p) { destroy(p); }
*/
import "C"

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"konkanitrain/internal/ptx"
)

// wanted is the compiler's version, 100 times the major one and the minor one.
const wanted = 1108

var options = []string{"--gpu-architecture=compute_60", "--std=c++17"}

func main() {
	library := flag.String("nvrtc", "", "libnvrtc of CUDA 11.8; by default the one that a package of Debian or PyPI has installed")
	from := flag.String("from", "op", "folder of the .cu files")
	to := flag.String("to", "op", "folder for the .ptx files")
	flag.Parse()
	if err := generate(*library, *from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// installed are where packages put the compiler.
var installed = []string{
	"/usr/lib/x86_64-linux-gnu/libnvrtc.so.11.2",
	"/usr/local/cuda-11.8/lib64/libnvrtc.so.11.2",
	"/usr/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
	"/usr/local/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
}

func generate(library, from, to string) error {
	for _, pattern := range installed {
		if library == "" {
			if found, _ := filepath.Glob(pattern); len(found) > 0 {
				library = found[0]
			}
		}
	}
	if library == "" {
		return fmt.Errorf("no libnvrtc.so.11.2 at %q: name it with --nvrtc", installed)
	}
	if reason := C.open_compiler(text(library)); reason != nil {
		return fmt.Errorf("opening %s: %s", library, C.GoString(reason))
	}
	if v := int(C.compiler_version()); v != wanted {
		return fmt.Errorf("%s is version %d.%d, want %d.%d: another one writes other files", library, v/100, v%100, wanted/100, wanted%100)
	}
	sources, err := ptx.Sources(from)
	if err == nil && len(sources) == 0 {
		err = fmt.Errorf("no .cu file in %s", from)
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, s := range sources {
		compiled, err := compile(s)
		if err == nil {
			err = write(filepath.Join(to, s.Output()), s.File(compiled))
		}
		failed = append(failed, err)
	}
	leftovers, err := filepath.Glob(filepath.Join(to, "*.ptx"))
	for _, file := range leftovers {
		if !slices.ContainsFunc(sources, func(s ptx.Source) bool { return s.Output() == filepath.Base(file) }) {
			fmt.Println("removed", file)
			failed = append(failed, os.Remove(file))
		}
	}
	return errors.Join(append(failed, err)...)
}

// write writes a file, unless it is so already.
func write(name, content string) error {
	if old, err := os.ReadFile(name); err == nil && string(old) == content {
		return nil
	}
	fmt.Println("wrote", name)
	return os.WriteFile(name, []byte(content), 0o644)
}

// compile is the PTX of a source as the compiler writes it; an error holds what the compiler says.
func compile(s ptx.Source) (string, error) {
	var names, texts []string
	for _, h := range s.Headers {
		names, texts = append(names, h.Name), append(texts, h.Text)
	}
	var p C.program
	if code := C.create_program(&p, text(s.Text), text(s.Name), C.int(len(names)), array(texts), array(names)); code != 0 {
		return "", fmt.Errorf("%s: nvrtcCreateProgram: error %d", s.Name, code)
	}
	defer C.destroy_program(&p)
	code := C.compile_program(p, C.int(len(options)), array(options))
	log := C.take_log(p)
	defer C.free(unsafe.Pointer(log))
	if code != 0 {
		return "", fmt.Errorf("%s: nvrtcCompileProgram: error %d\n%s", s.Name, code, C.GoString(log))
	}
	if warnings := C.GoString(log); warnings != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.Name, warnings)
	}
	compiled := C.take_text(p)
	defer C.free(unsafe.Pointer(compiled))
	return C.GoString(compiled), nil
}

// text is s for C. The program ends soon: nothing of it is freed.
func text(s string) *C.char { return C.CString(s) }

// array is a list of texts for C.
func array(list []string) **C.char {
	a := (*[1 << 20]*C.char)(C.calloc(C.size_t(len(list)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	for i, s := range list {
		a[i] = text(s)
	}
	return &a[0]
}
