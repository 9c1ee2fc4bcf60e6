//go:build gpu

package cuda_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/internal/simd"
)

// host is a batch of matrices in the host's memory, as a Matrix of elements there.
type host struct {
	half   bool
	row    int
	stride int64
	x      []float32
}

// newHost is random matrices with a gap behind each row and each matrix, NaN in the gaps; float16 where half.
func newHost(rng *rand.Rand, rows, cols, batch int, half, broadcast bool) host {
	h := host{half: half, row: cols + rng.IntN(4)}
	h.stride = int64(rows*h.row + rng.IntN(5))
	h.x = make([]float32, int(h.stride)*batch)
	for i := range h.x {
		h.x[i] = float32(math.NaN())
		if in := i % int(h.stride); in < rows*h.row && in%h.row < cols {
			h.x[i] = round(float32(rng.NormFloat64()), half)
		}
	}
	if broadcast {
		h.stride = 0
	}
	return h
}

func round(v float32, half bool) float32 {
	if half {
		return fromHalf(toHalf(v))
	}
	return v
}

func toHalf(v float32) uint16 {
	var h [1]uint16
	simd.ToHalf(h[:], []float32{v})
	return h[0]
}

func fromHalf(h uint16) float32 {
	var v [1]float32
	simd.FromHalf(v[:], []uint16{h})
	return v[0]
}

func (h host) at(b, i, j int, transposed bool) float64 {
	if transposed {
		i, j = j, i
	}
	return float64(h.x[int64(b)*h.stride+int64(i*h.row+j)])
}

func (h host) bytes() []byte {
	if !h.half {
		return bytesOf(h.x)
	}
	var b []byte
	for _, v := range h.x {
		b = binary.LittleEndian.AppendUint16(b, toHalf(v))
	}
	return b
}

func (h host) from(b []byte) []float32 {
	if !h.half {
		return floatsOf(b)
	}
	x := make([]float32, len(b)/2)
	for i := range x {
		x[i] = fromHalf(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return x
}

func (h host) matrix(operand int) cuda.Matrix {
	return cuda.Matrix{Ref: cuda.In(operand), Half: h.half, Row: h.row, Stride: h.stride}
}

// Products of every kind against plain loops in float64. An element is a float32 sum of K products, each rounded once:
// off by at most K roundings of 2^-24 of the sum of magnitudes; a float16 result is rounded once more, by 2^-11 of its
// value.
func TestProductsSimulated(t *testing.T) {
	r := openRig(t, cuda.Options{}, "lazy=1")
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 48 {
		p := cuda.Product{
			M: 1 + rng.IntN(40), N: 1 + rng.IntN(40), K: 1 + rng.IntN(70), Batch: 1 + rng.IntN(3),
			TransA: n&1 != 0, TransB: n&2 != 0, Alpha: 1, Beta: []float32{0, 1, -0.5}[n%3],
		}
		if n%5 == 0 {
			p.Alpha = -1.25
		}
		half, halfC := n&4 != 0, n&12 == 12
		rowsOf := func(transposed bool, rows, cols int) (int, int) {
			if transposed {
				return cols, rows
			}
			return rows, cols
		}
		rows, cols := rowsOf(p.TransA, p.M, p.K)
		a := newHost(rng, rows, cols, p.Batch, half, n%7 == 0)
		rows, cols = rowsOf(p.TransB, p.K, p.N)
		b := newHost(rng, rows, cols, p.Batch, half, n%11 == 0)
		c := newHost(rng, p.M, p.N, p.Batch, halfC, false)
		p.A, p.B, p.C = a.matrix(0), b.matrix(1), c.matrix(2)
		t.Run(fmt.Sprintf("%d, A %v half %v, B %v, C half %v", n, p.TransA, half, p.TransB, halfC), func(t *testing.T) {
			operands := make([]device.Buffer, 3)
			for k, h := range []host{a, b, c} {
				bytes := h.bytes()
				operands[k], _ = r.Alloc(int64(len(bytes)), "a matrix")
				defer operands[k].Free()
				if _, err := operands[k].WriteAt(bytes, 0); err != nil {
					t.Fatal(err)
				}
			}
			l := r.bind([]cuda.Launch{cuda.Multiply(p)}, operands...)
			if err := r.run(l); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, operands[2].Size())
			operands[2].ReadAt(got, 0)
			check(t, p, a, b, c, c.from(got))
		})
	}
}

func check(t *testing.T, p cuda.Product, a, b, c host, got []float32) {
	t.Helper()
	for i := range got {
		in := i % int(c.stride)
		batch, row, col := i/int(c.stride), in/c.row, in%c.row
		if in >= p.M*c.row || col >= p.N {
			if !math.IsNaN(float64(got[i])) {
				t.Fatalf("element %d, in a gap, was written", i)
			}
			continue
		}
		want, size := 0.0, 0.0
		for k := range p.K {
			v := a.at(batch, row, k, p.TransA) * b.at(batch, k, col, p.TransB) * float64(p.Alpha)
			want, size = want+v, size+math.Abs(v)
		}
		if p.Beta != 0 {
			v := float64(p.Beta) * c.at(batch, row, col, false)
			want, size = want+v, size+math.Abs(v)
		}
		bound := float64(p.K+3) * 0x1p-24 * size
		if c.half {
			bound += 0x1p-11*math.Abs(want) + 0x1p-25
		}
		if d := math.Abs(float64(got[i]) - want); !(d <= bound) {
			t.Fatalf("matrix %d, element (%d, %d) is %v, want %v", batch, row, col, got[i], want)
		}
	}
}
