package simulated

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type builder struct {
	root, cache       string // folders
	compiler, objcopy string
	limit             chan struct{} // one place for each compiler that may run at once
}

// flags are those of every compilation. Products and sums must not fuse: a result is the same on every processor.
var flags = []string{"-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-mf16c", "-Wall", "-fno-strict-aliasing"}

// keep is how long files of the cache that nothing has asked for are kept.
const keep = 14 * 24 * time.Hour

// object is something to compile: a text, or a kernel file in one of two ways.
type object struct {
	source  string   // path
	kernels bool     // a .cu file
	checked bool     // with a check of every access
	headers string   // hash of what the source may include
	flags   []string // beyond the common ones
}

// libraries builds what is missing.
func (b *builder) libraries(o Options) (Libraries, error) {
	var l Libraries
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return l, err
	}
	b.sweep()

	src := filepath.Join(b.root, "device", "cuda", "simulated", "src")
	headers, err := b.hash(src, filepath.Join(b.root, "op"))
	if err != nil {
		return l, err
	}
	cu, err := filepath.Glob(filepath.Join(b.root, "op", "*.cu"))
	if err != nil || len(cu) == 0 {
		return l, errors.Join(fmt.Errorf("no kernels in %s", filepath.Join(b.root, "op", "*.cu")), err)
	}
	cpp := func(name string, flags ...string) object {
		return object{source: filepath.Join(src, name), headers: headers, flags: flags}
	}
	var driver []object
	for _, name := range driverSources {
		driver = append(driver, cpp(name, "-O1"))
	}
	driver = append(driver, cpp("fibers.cpp"), cpp("races.cpp")) // what each thread of a kernel runs through
	for _, path := range append(cu, o.Kernels...) {
		for _, checked := range []bool{false, true} {
			driver = append(driver, object{source: path, kernels: true, checked: checked, headers: headers})
		}
	}
	l.Driver, err = b.library("libcuda.so.1", "", driver)
	if err != nil {
		return l, err
	}
	// Vectors as long as the processor has: without fused products the results are the same.
	l.BLAS, err = b.library("libcublas.so", l.Driver, []object{cpp("blas.cpp", "-O3", "-march=native", "-DVERSION=120400")})
	if err != nil {
		return l, err
	}
	l.OldBLAS, err = b.library("libcublas_old.so", l.Driver,
		[]object{cpp("blas.cpp", "-O3", "-march=native", "-DVERSION=110100", "-DWITHOUT_WORKSPACE")})
	if err != nil {
		return l, err
	}
	l.NVML, err = b.library("libnvidia-ml.so.1", l.Driver, []object{cpp("nvml.cpp", "-O1")})
	if err != nil {
		return l, err
	}
	l.Null, err = b.library("libcuda_null.so.1", "", []object{cpp("null.cpp")})
	return l, err
}

// driverSources make up the driver, with the fibers, the check for races and the kernels.
var driverSources = []string{"settings.cpp", "cards.cpp", "context.cpp", "stream.cpp", "graph.cpp", "memory.cpp", "copy.cpp",
	"module.cpp", "traps.cpp"}

// library links objects, unless the same have been linked before. It finds the functions of needed, "" for none.
func (b *builder) library(name, needed string, objects []object) (string, error) {
	paths := make([]string, len(objects))
	errs := make([]error, len(objects))
	var wait sync.WaitGroup
	for i, o := range objects {
		wait.Go(func() {
			b.limit <- struct{}{}
			defer func() { <-b.limit }()
			paths[i], errs[i] = b.compile(o)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	folder := filepath.Join(b.cache, key(append(slices.Clone(paths), name, needed)...))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return b.make(filepath.Join(folder, name), func(out string) error {
		args := append([]string{"-shared", "-Wl,-soname," + name, "-Wl,-z,defs", "-o", out}, paths...)
		if needed != "" {
			args = append(args, needed, "-Wl,-rpath,"+filepath.Dir(needed))
		}
		return b.run("", b.compiler, append(args, "-lpthread", "-ldl")...)
	})
}

// compile makes an object file.
func (b *builder) compile(o object) (string, error) {
	text, err := os.ReadFile(o.source)
	if err != nil {
		return "", err
	}
	all := append(slices.Clone(flags), o.flags...)
	all = append(all, b.includes()...)
	if !o.kernels {
		path := filepath.Join(b.cache, key(string(text), o.headers, strings.Join(all, " "))+".o")
		return b.make(path, func(out string) error {
			return b.run("", b.compiler, append(all, "-c", o.source, "-o", out)...)
		})
	}
	all = append(all, "-g1")
	if o.checked {
		all = append(all, "-fsanitize=thread")
	}
	id := key(string(text), o.headers, strings.Join(all, " "))
	return b.make(filepath.Join(b.cache, id+".o"), func(out string) error {
		names, err := b.kernels(o.source, all)
		if err != nil {
			return err
		}
		section := "cusim_" + id // the file's shared variables; the linker makes symbols of a section's start and end
		if err := b.run(wrap(o, names, section), b.compiler, append(all, "-x", "c++", "-c", "-", "-o", out)...); err != nil {
			return err
		}
		args := []string{"--rename-section", ".bss=" + section}
		for _, name := range names { // extern "C" makes them global in spite of the unnamed namespace
			args = append(args, "--localize-symbol", name)
		}
		return b.run("", b.objcopy, append(args, out)...)
	})
}

// includes are the folders of headers.
func (b *builder) includes() []string {
	return []string{"-DCUDASIM", "-I" + filepath.Join(b.root, "device", "cuda", "simulated", "src"), "-I" + filepath.Join(b.root, "op")}
}

// kernel is a kernel's definition, as the preprocessor leaves it under CUDASIM_SCAN.
var kernel = regexp.MustCompile(`extern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(`)

// kernels are the names of the kernels in a file, also of those that a macro makes.
func (b *builder) kernels(source string, flags []string) ([]string, error) {
	var out bytes.Buffer
	cmd := exec.Command(b.compiler, append(slices.Clone(flags), "-DCUDASIM_SCAN", "-E", "-x", "c++", source)...)
	var complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", source, err, complaint.String())
	}
	var names []string
	for _, m := range kernel.FindAllSubmatch(out.Bytes(), -1) {
		names = append(names, string(m[1]))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf(`%s has no kernel: none is defined as extern "C" __global__ void name(...)`, source)
	}
	return names, nil
}

// wrap is the text that g++ compiles for a kernel file: in an unnamed namespace, and with each kernel registered.
func wrap(o object, names []string, section string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "#include \"cudasim.h\"\n")
	fmt.Fprintf(&s, "extern \"C\" __attribute__((weak, visibility(\"hidden\"))) char __start_%s[], __stop_%s[];\n", section, section)
	fmt.Fprintf(&s, "#define CUSIM_START __start_%s\n#define CUSIM_STOP __stop_%s\n#define CUSIM_CHECKED %v\n", section, section, o.checked)
	fmt.Fprintf(&s, "namespace {\nstruct Own {};\n#include %q\n", o.source)
	for _, name := range names {
		fmt.Fprintf(&s, "CUSIM_KERNEL(%s)\n", name)
	}
	s.WriteString("}\n")
	return s.String()
}

// make makes a file that isn't there, under another name first, so that nobody sees half of one. Who wants the same
// file at the same time waits for it.
func (b *builder) make(path string, f func(out string) error) (string, error) {
	there := func() bool {
		now := time.Now()
		return os.Chtimes(path, now, now) == nil
	}
	if there() {
		return path, nil
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if there() {
		return path, nil
	}
	out := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(out)
	if err := f(out); err != nil {
		return "", err
	}
	return path, os.Rename(out, path)
}

// run runs a tool with a text as its input.
func (b *builder) run(input, tool string, args ...string) error {
	cmd := exec.Command(tool, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// hash is that of all headers in folders, and of the compiler.
func (b *builder) hash(folders ...string) (string, error) {
	version, err := exec.Command(b.compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", b.compiler, err)
	}
	texts := []string{string(version), processor()}
	for _, folder := range folders {
		for _, pattern := range []string{"*.h", "*.cuh"} {
			names, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return "", err
			}
			for _, name := range names {
				text, err := os.ReadFile(name)
				if err != nil {
					return "", err
				}
				texts = append(texts, name, string(text))
			}
		}
	}
	return key(texts...), nil
}

// processor is what the system says that the processor can do.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if strings.HasPrefix(line, "flags") {
			return line
		}
	}
	return ""
}

// key is a hash of texts.
func key(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))[:20]
}

// sweep removes what nothing has used for long.
func (b *builder) sweep() {
	filepath.Walk(b.cache, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && time.Since(info.ModTime()) > keep {
			os.Remove(path)
		}
		return nil
	})
}
