//go:build gpu

package simulated

import (
	"strings"
	"testing"
)

// A card has so much memory, charged in the driver's chunks; what another process takes is missing.
func TestSimulatedOutOfMemory(t *testing.T) {
	c := openCard(t, "memory=512M")
	memory := func() (free, total uint64) {
		f := &[2]uint64{}
		c.must("cuMemGetInfo_v2", address(&f[0]), address(&f[1]))
		return f[0], f[1]
	}
	if free, total := memory(); free != 512<<20 || total != 512<<20 {
		t.Errorf("%d of %d bytes free", free, total)
	}
	small := c.make("cuMemAlloc_v2", 100)
	if free, _ := memory(); free != 510<<20 {
		t.Errorf("%d bytes free beside 100", free)
	}
	if !c.Take(0, 300<<20) || c.Take(0, 300<<20) {
		t.Error("another process takes 300 MiB once, and not twice")
	}
	var taken []uint64
	for {
		p := new(uint64)
		if r := c.do("cuMemAlloc_v2", address(p), 64<<20); r == outOfMemory {
			break
		} else if r != 0 {
			t.Fatal(r)
		}
		taken = append(taken, *p)
	}
	if len(taken) != 3 {
		t.Errorf("%d times 64 MiB of 210 MiB", len(taken))
	}
	for _, p := range append(taken, small) {
		c.must("cuMemFree_v2", p)
	}
	c.Take(0, -300<<20)
	if free, _ := memory(); free != 512<<20 || c.Count("live bytes") != 0 {
		t.Errorf("%d bytes free, %d bytes live in the end", free, c.Count("live bytes"))
	}
	if r := c.do("cuMemFree_v2", small); r != invalidValue {
		t.Errorf("freed twice: %d", r)
	}
}

// Whole cards of many GiB can be allocated: what isn't written takes no memory of the host.
func TestSimulatedLargeCard(t *testing.T) {
	c := openCard(t, "cards=h100")
	p := c.make("cuMemAlloc_v2", 64<<30)
	if got := nans(c.download(p+32<<30, 100)); got != 100 {
		t.Errorf("%d of 100 elements in the middle are NaN", got)
	}
}

// Launches that no card takes, and modules that don't fit the card or their kernels, are refused and said.
func TestSimulatedLimits(t *testing.T) {
	c := openCard(t)
	f := c.function("right")
	x := c.upload(ramp(64))
	a := &[3]uint64{x, x, 64}
	pointers := &[3]uint64{address(&a[0]), address(&a[1]), address(&a[2])}
	for _, l := range []struct {
		gx, gy, block, shared uint64
		want                  int
	}{
		{1, 1, 64, 48 << 10, 0}, {0, 1, 64, 256, invalidValue}, {1, 65536, 64, 256, invalidValue},
		{1, 1, 1025, 256, invalidValue}, {1, 1, 64, 48<<10 + 4, invalidValue},
	} {
		if r := c.do("cuLaunchKernel", f, l.gx, l.gy, 1, l.block, 1, 1, l.shared, 0, address(&pointers[0]), 0); r != l.want {
			t.Errorf("%v: %d", l, r)
		}
	}
	c.Findings()
	shared := strings.Replace(ptx("right"), "\tret;", ".shared .align 16 .b8 tile[1024];\n\tret;", 1)
	limited := strings.Replace(ptx("right"), "\n{", "\n.maxntid 32, 1, 1\n{", 1)
	wide := strings.Replace(ptx("right"), ".param .u32", ".param .u64", 1)
	for _, m := range []struct {
		text, found      string
		load, first, two int // codes: of loading, of a launch of 64 threads with 47 KiB and with 48 KiB
	}{
		{shared, "1024 that it declares", 0, 0, invalidValue},
		{limited, "64 threads a block, its .maxntid is 32", 0, 701, 701},
		{wide, "parameter 2 has 8 bytes in the PTX and 4 in the source", 218, 0, 0},
		{ptx("nowhere"), "no kernel of this name", 218, 0, 0},
		{"no module", "no PTX", 200, 0, 0},
		{strings.Replace(ptx("right"), "sm_60", "sm_80", 1), "", 209, 0, 0},
		{strings.Replace(ptx("right"), "7.8", "8.9", 1), "", 222, 0, 0},
	} {
		module := new(uint64)
		r := c.loadInto(module, append([]byte(m.text), 0))
		if r != m.load {
			t.Errorf("%q loads with %d, want %d", m.text, r, m.load)
		}
		if r == 0 {
			name := []byte("right\x00")
			f := c.make("cuModuleGetFunction", *module, address(&name[0]))
			if first, two := c.launch(f, x, x, 64, 47<<10, 0), c.launch(f, x, x, 64, 48<<10, 0); first != m.first || two != m.two {
				t.Errorf("%q: launches %d, %d", m.text, first, two)
			}
		}
		if found := strings.Join(c.Findings(), "\n"); !strings.Contains(found, m.found) {
			t.Errorf("found %q, want %q", found, m.found)
		}
	}
	module, name := new(uint64), []byte("other\x00")
	if c.loadInto(module, append([]byte(ptx("right")), 0)); c.do("cuModuleGetFunction", address(module), *module, address(&name[0])) != 500 {
		t.Error("a module gives a kernel that it lacks")
	}
}

// A fault made for a test comes at the call that was named, and stays if it is sticky.
func TestSimulatedFaults(t *testing.T) {
	c := openCard(t)
	c.Fail(Fault{Call: "cuMemAlloc", N: 2, Code: outOfMemory})
	p := c.make("cuMemAlloc_v2", 64)
	if r := c.do("cuMemAlloc_v2", address(&p), 64); r != outOfMemory {
		t.Errorf("the second allocation: %d", r)
	}
	c.make("cuMemAlloc_v2", 64)
	if n := c.Count("cuMemAlloc"); n != 3 {
		t.Errorf("%d allocations counted", n)
	}
	c.Fail(Fault{Call: Any, N: 1, Code: launchFailed, Sticky: true})
	for _, call := range []string{"cuCtxSynchronize", "cuCtxSynchronize"} {
		if r := c.do(call); r != launchFailed {
			t.Errorf("%s: %d", call, r)
		}
	}
	c.must("cuCtxDestroy_v2", c.context)
	c.context = c.make("cuCtxCreate_v2", 0, 0)
	c.must("cuCtxSynchronize")
}

// CUDA_VISIBLE_DEVICES chooses cards and their order; modes and drivers refuse a context as real ones do.
func TestSimulatedCards(t *testing.T) {
	c := &card{T: t, Control: bugs(t).Control(t)}
	set := func(name, value string) {
		if err := c.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	name := func(i uint64) string {
		text := make([]byte, 100)
		c.must("cuDeviceGetName", address(&text[0]), 100, i)
		s, _, _ := strings.Cut(string(text), "\x00")
		return s
	}
	set("cards", "t4,h100,old")
	c.must("cuInit", 0)
	count := func() uint32 { n := new(uint32); c.must("cuDeviceGetCount", address(n)); return *n }
	if n := count(); n != 3 || name(1) != "NVIDIA H100 80GB HBM3" {
		t.Errorf("%d cards, the second is %s", n, name(1))
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "2,GPU-7434,7,0")
	c.must("cuInit", 0)
	if n := count(); n != 2 || name(0) != "GeForce GTX 960" || name(1) != "Tesla T4" {
		t.Errorf("%d cards are visible", n)
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	if r := c.do("cuInit", 0); r != 100 {
		t.Errorf("no visible card: %d", r)
	}
	if err := c.Set("cards", "abacus"); err == nil {
		t.Error("an abacus is a card")
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	c.must("cuInit", 0)
	set("busy", "1")
	for _, m := range []struct {
		mode, driver string
		want         int
	}{{"exclusive", "12040", 46}, {"exclusive", "11020", 101}, {"prohibited", "12040", 999}, {"default", "12040", 0}} {
		set("mode", m.mode)
		set("driver", m.driver)
		context := new(uint64)
		if r := c.do("cuCtxCreate_v2", address(context), 0, 0); r != m.want {
			t.Errorf("%v: %d", m, r)
		}
		if *context != 0 {
			c.must("cuCtxDestroy_v2", *context)
		}
	}
}
