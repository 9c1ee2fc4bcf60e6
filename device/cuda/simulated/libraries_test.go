//go:build gpu

package simulated

import (
	"math"
	"strings"
	"testing"
)

// product are the arguments of cublasGemmStridedBatchedEx up to the batch.
type product struct {
	handle, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc, batch uint64
}

func (c *card) gemm(p product) int {
	const compute32F = 68
	return c.do("cublasGemmStridedBatchedEx", p.handle, p.ta, p.tb, p.m, p.n, p.k, p.alpha, p.a, p.at, p.lda, p.sa,
		p.b, p.bt, p.ldb, p.sb, p.beta, p.c, p.ct, p.ldc, p.sc, p.batch, compute32F, 0)
}

// toHalf is a slice as float16, of numbers that it has.
func toHalf(x []float32) []uint16 {
	h := make([]uint16, len(x))
	for i, v := range x {
		if v != 0 {
			bits := math.Float32bits(v)
			h[i] = uint16(bits>>16&0x8000 | (bits>>23&0xff-127+15)<<10 | bits>>13&0x3ff)
		}
	}
	return h
}

// A product is that of plain loops, to the rounding of a sum of k products, with every transpose, type and beta; each
// of its rows is the same to the bit alone and among others, and it can be captured.
func TestSimulatedProduct(t *testing.T) {
	for _, half := range []bool{false, true} {
		c := openCard(t, "lazy=1")
		blas := &card{T: t, Control: &Control{library: open(t, bugs(t).BLAS), path: "cublas"}}
		s, handle := c.stream(), blas.make("cublasCreate_v2")
		blas.must("cublasSetStream_v2", handle, s)
		const m, n, k, batch = 70, 9, 33, 3 // more than a tile, and no multiple
		values := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(math.Round(100*math.Sin(float64(i)))) / 64 // exact in float16
			}
			return x
		}
		a, b, c0 := values(batch*m*k), values(batch*k*n), values(batch*m*n)
		put := func(x []float32) (uint64, uint64) {
			if half {
				h := toHalf(x)
				p := c.make("cuMemAlloc_v2", uint64(2*len(h)))
				c.must("cuMemcpyHtoD_v2", p, address(&h[0]), uint64(2*len(h)))
				return p, 2
			}
			return c.upload(x), 0
		}
		pa, kind := put(a)
		pb, _ := put(b)
		for ta := range uint64(2) {
			for tb := range uint64(2) {
				alpha, beta := &[]float32{0.5}[0], &[]float32{0.25}[0]
				lda, ldb := [2]uint64{m, k}[ta], [2]uint64{k, n}[tb]
				pc := c.upload(c0)
				args := product{handle, ta, tb, m, n, k, address(alpha), pa, kind, lda, m * k, pb, kind, ldb, k * n, address(beta), pc, 0, m, m * n, batch}
				if r := blas.gemm(args); r != 0 {
					t.Fatal(r)
				}
				c.must("cuStreamSynchronize", s)
				got := c.download(pc, batch*m*n)
				for x := range batch {
					for j := range n {
						for i := range m {
							sum := 0.0
							for l := range k {
								av := a[x*m*k+i+l*m]
								if ta == 1 {
									av = a[x*m*k+i*k+l]
								}
								bv := b[x*k*n+l+j*k]
								if tb == 1 {
									bv = b[x*k*n+l*n+j]
								}
								sum += float64(av) * float64(bv)
							}
							at := x*m*n + j*m + i
							want := 0.5*sum + 0.25*float64(c0[at])
							// k roundings of 2^-24 of sums up to k times 1.6^2.
							if d := math.Abs(float64(got[at]) - want); d > k*0x1p-24*k*2.5 {
								t.Fatalf("half %v, ta %d, tb %d: element %d is %v, want %v", half, ta, tb, at, got[at], want)
							}
						}
					}
				}
				// Captured, and run by its graph.
				graph := new(uint64)
				c.must("cuStreamBeginCapture_v2", s, 2)
				if r := blas.gemm(args); r != 0 {
					t.Fatal(r)
				}
				c.must("cuStreamEndCapture", s, address(graph))
				equal(t, c.download(pc, batch*m*n), got) // nothing has run
				exec := c.make("cuGraphInstantiate", *graph, 0, 0, 0)
				c.must("cuGraphDestroy", *graph)
				c.must("cuMemcpyHtoD_v2", pc, address(&c0[0]), 4*batch*m*n)
				c.must("cuGraphLaunch", exec, s)
				c.must("cuStreamSynchronize", s)
				equal(t, c.download(pc, batch*m*n), got)
				c.must("cuGraphExecDestroy", exec)
				// The second column of the last matrix, alone.
				single, last := c.upload(c0[(batch-1)*m*n+m:(batch-1)*m*n+2*m]), uint64(batch-1)
				size := uint64(4)
				if half {
					size = 2
				}
				column := uint64(k)
				if tb == 1 {
					column = 1
				}
				args.c, args.n, args.batch = single, 1, 1
				args.a, args.b = pa+last*m*k*size, pb+(last*k*n+column)*size
				if r := blas.gemm(args); r != 0 {
					t.Fatal(r)
				}
				c.must("cuStreamSynchronize", s)
				equal(t, c.download(single, m), got[(batch-1)*m*n+m:(batch-1)*m*n+2*m])
			}
		}
		blas.must("cublasDestroy_v2", handle)
		c.must("cuCtxDestroy_v2", c.context)
	}
}

// A product that leaves its memory, or whose types or leading dimensions cuBLAS doesn't take, is an error.
func TestSimulatedProductErrors(t *testing.T) {
	c := openCard(t)
	blas := &card{T: t, Control: &Control{library: open(t, bugs(t).BLAS), path: "cublas"}}
	handle := blas.make("cublasCreate_v2")
	one, zero := &[]float32{1}[0], &[]float32{0}[0]
	x, y := c.upload(ramp(64)), c.upload(ramp(64))
	good := product{handle, 0, 0, 8, 8, 8, address(one), x, 0, 8, 64, x, 0, 8, 64, address(zero), y, 0, 8, 64, 1}
	if r := blas.gemm(good); r != 0 {
		t.Fatal(r)
	}
	for name, p := range map[string]struct {
		change func(p *product)
		want   int
	}{
		"a leading dimension below the rows": {func(p *product) { p.lda = 7 }, 7},
		"A and B of two types":               {func(p *product) { p.at = 2 }, 15},
		"no handle":                          {func(p *product) { p.handle = 0 }, 1},
		"a matrix between two elements":      {func(p *product) { p.b++ }, 7},
	} {
		bad := good
		p.change(&bad)
		if r := blas.gemm(bad); r != p.want {
			t.Errorf("%s: status %d, want %d", name, r, p.want)
		}
	}
	good.batch = 2
	if r := blas.gemm(good); r != 13 {
		t.Errorf("past the end of its memory: status %d", r)
	}
	if found := strings.Join(c.Findings(), "\n"); !strings.Contains(found, "a product's A: 512 bytes at byte 0 of allocation") {
		t.Errorf("found %q", found)
	}
	blas.must("cublasDestroy_v2", handle)
}

// The old cuBLAS says that it is old, and has no workspaces to be set.
func TestSimulatedOldBLAS(t *testing.T) {
	l := bugs(t)
	for _, library := range []struct {
		path    string
		version uint32
		lacks   bool
	}{{l.BLAS, 120400, false}, {l.OldBLAS, 110100, true}} {
		blas := &card{T: t, Control: &Control{library: open(t, library.path), path: library.path}}
		version := new(uint32)
		blas.must("cublasGetVersion_v2", 0, address(version))
		_, err := call(blas.library, "cublasSetWorkspace_v2", 0, 0, 0)
		if *version != library.version || (err != nil) != library.lacks {
			t.Errorf("%s: version %d, cublasSetWorkspace: %v", library.path, *version, err)
		}
	}
}

// NVML knows the processes that were made up, of each card.
func TestSimulatedNVML(t *testing.T) {
	l := bugs(t)
	c := &card{T: t, Control: l.Control(t)}
	for name, value := range map[string]string{"cards": "t4,p100", "processes": "1:4711:512M,0:12:1G,1:4712:?,1:9:1Mg"} {
		if err := c.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	c.must("cuInit", 0)
	n := &card{T: t, Control: &Control{library: open(t, l.NVML), path: l.NVML}}
	n.must("nvmlInit_v2")
	text := []byte("0000:02:00.0\x00")
	device := new(uint64)
	n.must("nvmlDeviceGetHandleByPciBusId_v2", address(&text[0]), address(device))
	type process struct {
		pid   uint32
		bytes uint64
		gi    [2]uint32
	}
	list, count := &[4]process{}, new(uint32)
	if r := n.do("nvmlDeviceGetComputeRunningProcesses_v3", *device, address(count), 0); r != 7 || *count != 2 {
		t.Errorf("asked how many: %d, %d processes", r, *count)
	}
	n.must("nvmlDeviceGetComputeRunningProcesses_v3", *device, address(count), address(&list[0]))
	if list[0].pid != 4711 || list[0].bytes != 512<<20 || list[1].pid != 4712 || list[1].bytes != math.MaxUint64 {
		t.Errorf("processes %v", list)
	}
	*count = 4
	n.must("nvmlDeviceGetGraphicsRunningProcesses_v3", *device, address(count), address(&list[0]))
	if *count != 1 || list[0].pid != 9 {
		t.Errorf("%d graphical processes, %v", *count, list[0])
	}
	n.must("nvmlShutdown")
}
