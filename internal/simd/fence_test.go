//go:build unix

package simd

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
)

// fences hands out operands that lie against a page that can't be touched, behind them or before them, so that reading
// a single float too far stops the test. Operands of one name and size share memory.
type fences struct {
	t      *testing.T
	behind bool
	pages  map[string][]byte
}

func (f *fences) floats(name string, n int) []float32 {
	page := os.Getpagesize()
	size := max(1, (4*n+page-1)/page) * page
	key := fmt.Sprint(name, " ", size)
	if f.pages[key] == nil {
		m, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { unix.Munmap(m) })
		for _, fence := range [][]byte{m[:page], m[page+size:]} {
			if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
				f.t.Fatal(err)
			}
		}
		f.pages[key] = m[page : page+size]
	}
	all := unsafe.Slice((*float32)(unsafe.Pointer(&f.pages[key][0])), size/4)
	x := all[:n:n]
	if f.behind {
		x = all[len(all)-n:]
	}
	for i := range x {
		x[i] = float32(i%13)/4 - 1.5
	}
	return x
}

// halves are n float16 against a fence. Those of an odd number begin or end in the middle of a float's place.
func (f *fences) halves(n int) []uint16 {
	x := f.floats("half", (n+1)/2)
	h := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
	if f.behind {
		return h[len(h)-n:]
	}
	return h[:n:n]
}

// try runs a kernel; touching a fence is an error that names it.
func (f *fences) try(what string, run func()) {
	defer func() {
		if e := recover(); e != nil {
			f.t.Errorf("%s, fence behind the operands: %v: %v", what, f.behind, e)
		}
	}()
	run()
}

// fenced runs f with each tier and with fences on either side.
func fenced(t *testing.T, f func(p *fences)) {
	for _, tier := range tierNames() {
		for _, behind := range []bool{true, false} {
			t.Run(fmt.Sprint(tier, behind), func(t *testing.T) {
				debug.SetPanicOnFault(true) // of this goroutine
				useTier(t, tier)
				f(&fences{t, behind, map[string][]byte{}})
			})
		}
	}
}

// Kernels on rows touch nothing but their operands, whatever the length leaves for the last, masked vector.
func TestRowsStayInsideOperands(t *testing.T) {
	fenced(t, func(p *fences) {
		for n := range 300 {
			a, b, c := p.floats("a", n), p.floats("b", n), p.floats("c", n)
			d, e, f := p.floats("d", n), p.floats("e", n), p.floats("f", n)
			h, drop := p.halves(n), Drop{Key: 5, Site: 6, Threshold: 6554}
			for name, run := range map[string]func(){
				"Exp": func() { Exp(a, b) }, "Swish": func() { Swish(a, b) },
				"SwishGrad": func() { SwishGrad(a, b, c) }, "Relu": func() { Relu(a, b) }, "ReluGrad": func() { ReluGrad(a, b, c) },
				"GLU": func() { GLU(a, b, c) }, "GLUGrad": func() { GLUGrad(a, b, c, d, e) }, "Add": func() { Add(a, b, c) },
				"AddScaled": func() { AddScaled(a, b, 2, c) }, "Axpy": func() { Axpy(a, 2, b) }, "Scale": func() { Scale(a, 2, b) },
				"MulAdd": func() { MulAdd(a, b, c) }, "Sum": func() { Sum(a) }, "Max": func() { Max(a) }, "SumSquares": func() { SumSquares(a) },
				"Softmax": func() { Softmax(a, b) }, "LogSoftmax": func() { LogSoftmax(a, b) }, "SoftmaxGrad": func() { SoftmaxGrad(a, b, c) },
				"LayerNorm":     func() { LayerNorm(a, b, c, d, 1e-5) },
				"LayerNormGrad": func() { LayerNormGrad(a, b, c, d, e, f, 1e-5) },
				"ToHalf":        func() { ToHalf(h, b) }, "FromHalf": func() { FromHalf(b, h) },
				"Dropout": func() { Dropout(a, b, 3, drop) }, "AddDropout": func() { AddDropout(a, b, 2, c, 3, drop) },
				"SwishDropout": func() { SwishDropout(a, b, 3, drop) }, "SwishDropoutGrad": func() { SwishDropoutGrad(a, b, c, 3, drop) },
				"AdamW": func() { AdamW(a, b, c, d, AdamStep{}) },
			} {
				p.try(fmt.Sprint(name, " of ", n), run)
			}
			for _, rows := range []int{0, 1, 2, 5} {
				m := p.floats("rows", rows*n)
				p.try(fmt.Sprint(rows, " rows of ", n), func() { SetRows(m, rows, a); ColumnSum(a, m, rows) })
			}
		}
	})
}

func TestDepthwiseStaysInsideOperands(t *testing.T) {
	fenced(t, func(p *fences) {
		for _, d := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 127, 128, 129, 143, 256} {
			for _, k := range []int{1, 3, 9, 15, 31} {
				for _, frames := range []int{1, 2, 5, 8, 11, 12, 13, 24, 25, 96, 97, 140} {
					x, y, w, bias := p.floats("x", frames*d), p.floats("y", frames*d), p.floats("w", k*d), p.floats("bias", d)
					p.try(fmt.Sprintf("%d channels, kernel %d, %d frames", d, k, frames), func() {
						Depthwise(x, y, w, bias, frames, d, k)
						DepthwiseGradInput(x, y, w, frames, d, k)
						DepthwiseGradWeight(w, bias, x, y, frames, d, k)
					})
				}
			}
		}
	})
}

// Products: sizes around the tiles of both instruction sets and, with the others small, around the blocks that are
// packed at a time.
func TestProductsStayInsideOperands(t *testing.T) {
	fenced(t, func(p *fences) {
		w := NewWorkspace()
		product := func(m, n, k int) {
			for x := range 8 {
				tA, tB, pad := x&1 > 0, x&2 > 0, 3*(x>>2)
				lda, ldb, ldc := k+pad, n+pad, n+pad
				opA, opB := blas.NoTrans, blas.NoTrans
				if tA {
					opA, lda = blas.Trans, m+pad
				}
				if tB {
					opB, ldb = blas.Trans, k+pad
				}
				a, b := p.floats("a", extent(tA, m, k, lda)), p.floats("b", extent(tB, k, n, ldb))
				c, bias := p.floats("c", extent(false, m, n, ldc)), p.floats("bias", n)
				p.try(fmt.Sprintf("m %d, n %d, k %d, transposed %v %v, padded by %d", m, n, k, tA, tB, pad), func() {
					w.Sgemm(opA, opB, m, n, k, 1, a, lda, b, ldb, 0, c, ldc)
					w.Sgemm(opA, opB, m, n, k, 1, a, lda, b, ldb, 1, c, ldc)
					w.SgemmBias(opA, opB, m, n, k, a, lda, b, ldb, bias, c, ldc)
				})
			}
		}
		for _, m := range []int{1, 2, 5, 11, 12, 13, 14, 24, 25, 37} {
			for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 65} {
				for _, k := range []int{1, 2, 3, 4, 5, 8, 9, 17} {
					product(m, n, k)
				}
			}
		}
		for _, size := range [][3]int{{1, 1025, 5}, {770, 33, 5}, {13, 33, 650}, {385, 2050, 5}, {400, 17, 321}} {
			product(size[0], size[1], size[2])
		}
	})
}
