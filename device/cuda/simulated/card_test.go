//go:build gpu

package simulated

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// card calls a simulated driver as a program would, with one context on one thread.
type card struct {
	*testing.T
	*Control
	context uint64
}

// bugs are the libraries with the kernels of testdata/bugs.cu.
func bugs(t *testing.T) Libraries {
	t.Helper()
	return Build(t, Options{Kernels: []string{"testdata/bugs.cu"}})
}

// openCard makes a context on card 0 under settings "lazy=1".
func openCard(t *testing.T, settings ...string) *card {
	t.Helper()
	runtime.LockOSThread()
	c := &card{T: t, Control: bugs(t).Control(t)}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := c.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	c.must("cuInit", 0)
	c.context = c.make("cuCtxCreate_v2", 0, 0)
	t.Cleanup(func() {
		c.do("cuCtxDestroy_v2", c.context)
		runtime.UnlockOSThread()
	})
	return c
}

// do makes a call and returns the driver's number.
func (c *card) do(symbol string, args ...uint64) int { return int(int32(c.call(symbol, args...))) }

func (c *card) must(symbol string, args ...uint64) {
	c.Helper()
	if r := c.do(symbol, args...); r != 0 {
		c.Fatalf("%s: error %d; found %v", symbol, r, c.Findings())
	}
}

// make makes a call whose first argument is where a result goes, and returns that.
func (c *card) make(symbol string, args ...uint64) uint64 {
	c.Helper()
	out := new(uint64)
	c.must(symbol, append([]uint64{address(out)}, args...)...)
	return *out
}

func (c *card) upload(x []float32) uint64 {
	c.Helper()
	p := c.make("cuMemAlloc_v2", uint64(4*len(x)))
	c.must("cuMemcpyHtoD_v2", p, address(&x[0]), uint64(4*len(x)))
	return p
}

func (c *card) download(p uint64, n int) []float32 {
	c.Helper()
	x := make([]float32, n)
	c.must("cuMemcpyDtoH_v2", address(&x[0]), p, uint64(4*n))
	return x
}

// ptx is a module with an entry for each kernel of bugs.cu.
func ptx(names ...string) string {
	s := ".version 7.8\n.target sm_60\n.address_size 64\n"
	for _, name := range names {
		s += fmt.Sprintf(".visible .entry %s(\n\t.param .u64 %[1]s_param_0,\n\t.param .u64 %[1]s_param_1,\n\t.param .u32 %[1]s_param_2\n)\n{\n\tret;\n}\n", name)
	}
	return s
}

func (c *card) loadInto(module *uint64, image []byte) int {
	return c.do("cuModuleLoadData", address(module), address(&image[0]))
}

func (c *card) function(name string) uint64 {
	c.Helper()
	image, module := append([]byte(ptx(name)), 0), new(uint64)
	if r := c.loadInto(module, image); r != 0 {
		c.Fatalf("loading %s: error %d; found %v", name, r, c.Findings())
	}
	text := append([]byte(name), 0)
	return c.make("cuModuleGetFunction", *module, address(&text[0]))
}

// launch queues a kernel of (x, y, n) in blocks of 64 threads.
func (c *card) launch(f, x, y uint64, n, shared int, stream uint64) int {
	a := &[3]uint64{x, y, uint64(n)}
	pointers := &[3]uint64{address(&a[0]), address(&a[1]), address(&a[2])}
	return c.do("cuLaunchKernel", f, uint64((n+63)/64), 1, 1, 64, 1, 1, uint64(shared), stream, address(&pointers[0]), 0)
}

// floats are those at an address of the host.
func floats(p uint64, n int) []float32 { return unsafe.Slice(*(**float32)(unsafe.Pointer(&p)), n) }

// ramp is 1, 2, 3 ...
func ramp(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i + 1)
	}
	return x
}

func nans(x []float32) (n int) {
	for _, v := range x {
		if math.IsNaN(float64(v)) {
			n++
		}
	}
	return n
}

// right is what the kernel right makes of ramp(n).
func warpSums(n int) []float32 {
	y := make([]float32, n)
	for i := range y {
		for j := i / 32 * 32; j < i/32*32+32; j++ {
			y[i] += float32(j + 1)
		}
	}
	return y
}

func equal(t testing.TB, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

var modes = []string{"", "lazy=1", "guard=1", "seed=7", "races=1", "lazy=1 seed=3 guard=1 races=1"}

// A kernel without a mistake gives the same in every mode, and nothing is found.
func TestSimulatedKernel(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			c := openCard(t, strings.Fields(mode)...)
			const n = 256
			x, y := c.upload(ramp(n)), c.make("cuMemAlloc_v2", 4*n)
			if got := nans(c.download(y, n)); got != n {
				t.Errorf("%d of %d elements of fresh memory are NaN", got, n)
			}
			if r := c.launch(c.function("right"), x, y, n, 64*4, 0); r != 0 {
				t.Fatal(r)
			}
			equal(t, c.download(y, n), warpSums(n))
			if r := c.launch(c.function("by_warps"), x, y, n, 0, 0); r != 0 {
				t.Fatal(r)
			}
			if got := c.download(y, n); got[0] != 2 || got[1] != 1 || got[255] != 255 {
				t.Errorf("neighbors exchanged: %v", got[:4])
			}
		})
	}
}

const (
	invalidValue   = 1
	outOfMemory    = 2
	illegalAddress = 700
	launchFailed   = 719
)

// Each planted bug is caught, by the error and by what is said.
func TestSimulatedCardCatches(t *testing.T) {
	for _, bug := range []struct {
		kernel, settings string
		code             int
		want             string // in what is found
	}{
		{"read_past_end", "races=1", illegalAddress, "kernel read_past_end: block (3, 0, 0), thread (63, 0, 0): reads 0 bytes past the end of allocation"},
		{"write_past_end", "races=1", illegalAddress, "thread (63, 0, 0): writes 0 bytes past the end"},
		{"read_past_end", "guard=1", illegalAddress, "reads 0 bytes past the end"},
		{"write_past_end", "guard=1", illegalAddress, "writes 0 bytes past the end"},
		{"write_far", "", illegalAddress, "kernel write_far: block (0, 0, 0), thread (0, 0, 0): writes address 0x"},
		{"write_nowhere", "", illegalAddress, "thread (0, 0, 0): reads or writes at an address that no memory can have"},
		{"unset_shared", "races=1", launchFailed, "of the shared memory that it declares, which no thread of the block has set"},
		{"missing_barrier", "races=1", launchFailed, "which no thread of the block has set"},
		{"missing_second_barrier", "races=1", launchFailed, "race: "},
		{"one_word", "races=1", launchFailed, "race: writes byte 0 of allocation"},
		{"barrier_after_exit", "", launchFailed, "waits in __syncthreads, and thread (54, 0, 0) has exited"},
		{"absent_lane", "", launchFailed, "waits in __shfl_sync or __syncwarp for all lanes of its mask, and thread (16, 0, 0) has exited"},
		{"different_masks", "", launchFailed, "thread (1, 0, 0) names another mask"},
		{"block_order", "races=1", launchFailed, "of block (0, 0, 0) wrote in the same launch"},
		{"misaligned", "races=1", 716, "misaligned"},
		{"zero_divisor", "", launchFailed, "thread (0, 0, 0): divides an integer by zero"},
	} {
		t.Run(bug.kernel+" "+bug.settings, func(t *testing.T) {
			c := openCard(t, strings.Fields(bug.settings)...)
			const n = 256
			x, y := c.upload(ramp(n)), c.upload(ramp(n))
			r := c.launch(c.function(bug.kernel), x, y, n, 64*4, 0)
			if r != bug.code {
				t.Errorf("error %d, want %d", r, bug.code)
			}
			if again := c.do("cuCtxSynchronize"); again != bug.code {
				t.Errorf("the next call returns %d, want %d: the context is lost", again, bug.code)
			}
			found := strings.Join(c.Findings(), "\n")
			if !strings.Contains(found, bug.want) {
				t.Errorf("found %q, want %q", found, bug.want)
			}
			t.Log(found)
		})
	}
}

// Bugs that only values show: memory that nothing has set, and an order of blocks that isn't promised.
func TestSimulatedValuesShow(t *testing.T) {
	const n = 1024
	for _, bug := range []struct {
		kernel, settings string
		least, most      int // NaN among the results
	}{
		{"unset_memory", "", n, n},
		{"unset_shared", "", 16, 16},
		{"missing_barrier", "", 1, n - 1},
		{"block_order", "", 0, 0},
		{"block_order", "seed=1", 1, n - 1},
	} {
		c := openCard(t, strings.Fields(bug.settings)...)
		x, y := c.upload(ramp(n)), c.make("cuMemAlloc_v2", 4*n)
		if r := c.launch(c.function(bug.kernel), x, y, n, 0, 0); r != 0 {
			t.Fatal(bug.kernel, r)
		}
		if got := nans(c.download(y, n)); got < bug.least || got > bug.most {
			t.Errorf("%s %s: %d results are NaN, want %d to %d", bug.kernel, bug.settings, got, bug.least, bug.most)
		}
		c.must("cuCtxDestroy_v2", c.context)
	}
}

// A write by one element past the end that no page stops is found by the canaries.
func TestSimulatedCanaries(t *testing.T) {
	for _, settings := range []string{"", "guard=1"} {
		c := openCard(t, strings.Fields(settings)...)
		const n = 250
		x, y := c.upload(ramp(256)), c.make("cuMemAlloc_v2", 4*n)
		if r := c.launch(c.function("write_past_end"), x, y, n, 0, 0); r != 0 {
			t.Fatal(r)
		}
		if settings == "" {
			if r := c.do("cuMemFree_v2", y); r != illegalAddress {
				t.Errorf("freeing it: error %d", r)
			}
		} else if r := c.do("cuCtxSynchronize"); r != illegalAddress {
			t.Errorf("waiting: error %d", r)
		}
		if found := strings.Join(c.Findings(), "\n"); !strings.Contains(found, "written: 0 bytes past the end of allocation") {
			t.Errorf("found %q", found)
		}
		c.must("cuCtxDestroy_v2", c.context)
	}
}

// Freed memory can't be touched any more under guard.
func TestSimulatedFreedMemory(t *testing.T) {
	c := openCard(t, "guard=1")
	x, y := c.upload(ramp(256)), c.upload(ramp(256))
	f := c.function("unset_memory")
	c.must("cuMemFree_v2", y)
	if r := c.launch(f, x, y, 256, 0, 0); r != illegalAddress {
		t.Errorf("error %d", r)
	}
	if found := strings.Join(c.Findings(), "\n"); !strings.Contains(found, "which is freed") {
		t.Errorf("found %q", found)
	}
}

// What the null driver returns is success.
func TestSimulatedNull(t *testing.T) {
	l := bugs(t)
	c := &card{T: t, Control: &Control{path: l.Null}}
	c.library = open(t, l.Null)
	p := c.make("cuMemAlloc_v2", 1<<30)
	if q := c.make("cuMemAlloc_v2", 1<<30); q < p+1<<30 {
		t.Errorf("addresses %d and %d for 1 GiB each", p, q)
	}
	for _, symbol := range []string{"cuInit", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cublasGemmStridedBatchedEx"} {
		c.must(symbol)
	}
}
