//go:build gpu

package cuda_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
)

// kernels is a module that declares the kernels of testdata/kernels.cu, as their PTX would; the simulated card runs
// what g++ has made of the source.
const kernels = `.version 7.8
.target sm_60
.address_size 64
.visible .entry multiply_add(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 a) { ret; }
.visible .entry count(.param .u64 y, .param .u64 first) { ret; }
.visible .entry write_far(.param .u64 y, .param .u32 n) { ret; }
`

// rig is a simulated card, and what steers it.
type rig struct {
	*testing.T
	*simulated.Control
	cuda.Card
	lost bool // the test loses the context, and with it pinned memory that only the driver could give back
}

// left says what is left of the cards that were opened since before was counted.
func left(c *simulated.Control, before map[string]int64) (list []string) {
	for kind, n := range alive(c) {
		if n != before[kind] {
			list = append(list, fmt.Sprint(n-before[kind], " ", kind))
		}
	}
	return list
}

// alive counts what a card is made of.
func alive(c *simulated.Control) map[string]int64 {
	n := map[string]int64{}
	for _, kind := range []string{"live allocations", "live pinned", "live streams", "live events", "live graphs", "live contexts"} {
		n[kind] = c.Count(kind)
	}
	return n
}

var built simulated.Libraries

// libraries are built once for the process.
func libraries(tb testing.TB) simulated.Libraries {
	tb.Helper()
	if built == (simulated.Libraries{}) {
		built = simulated.Build(tb, simulated.Options{Kernels: []string{"testdata/kernels.cu"}})
	}
	return built
}

// openRig opens a simulated card under settings ("lazy=1"), with the kernels loaded. The card is closed when the test
// ends, and nothing must be left of it.
func openRig(t *testing.T, o cuda.Options, settings ...string) *rig {
	t.Helper()
	l := libraries(t)
	r := &rig{T: t, Control: l.Control(t)}
	r.set(settings...)
	o.Driver, o.BLAS = l.Driver, l.BLAS
	before := alive(r.Control)
	c, err := cuda.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Card = c
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !t.Failed() {
			t.Errorf("closing the simulated card: %v", err)
		}
		if list := left(r.Control, before); len(list) > 0 && !r.lost {
			t.Errorf("when the simulated card is closed there are %v", list)
		}
	})
	if err := c.Load(map[string][]byte{"kernels.cu": []byte(kernels)}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) set(settings ...string) {
	r.Helper()
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := r.Set(name, value); err != nil {
			r.Fatal(err)
		}
	}
}

// alloc is memory with these floats in it.
func (r *rig) alloc(x ...float32) device.Buffer {
	r.Helper()
	b, err := r.Alloc(int64(4*len(x)), "a test")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(b.Free)
	if _, err := b.WriteAt(bytesOf(x), 0); err != nil {
		r.Fatal(err)
	}
	return b
}

// floats is what a buffer holds.
func (r *rig) floats(b device.Buffer) []float32 {
	r.Helper()
	p := make([]byte, b.Size())
	if _, err := b.ReadAt(p, 0); err != nil {
		r.Fatal(err)
	}
	return floatsOf(p)
}

// bind binds launches whose In(k) is operand k.
func (r *rig) bind(launches []cuda.Launch, operands ...device.Buffer) cuda.List {
	r.Helper()
	l, err := r.Bind(launches, at(operands))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(l.Free)
	return l
}

func at(operands []device.Buffer) func(int, cuda.Ref) cuda.Address {
	return func(_ int, r cuda.Ref) cuda.Address {
		return cuda.AddressOf(operands[r.Index]) + cuda.Address(r.Offset)
	}
}

// run queues a list and waits.
func (r *rig) run(l cuda.List) error {
	return r.Do(func(q cuda.Queue) error {
		if err := q.Run(l); err != nil {
			return err
		}
		return q.Wait()
	})
}

// multiplyAdd is y += a*x on n floats: operands 0 and 1 unless others are named.
func multiplyAdd(n int, a float32, x, y int) cuda.Launch {
	return cuda.Launch{
		Kernel: "multiply_add", Grid: [3]int{(n + 63) / 64}, Block: 64,
		Args: []cuda.Arg{cuda.Ptr(cuda.In(x)), cuda.Ptr(cuda.In(y)), cuda.Int(n), cuda.Float(a)},
	}
}

func bytesOf(x []float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func floatsOf(b []byte) []float32 {
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}

// ramp is 1, 2 .. n.
func ramp(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i + 1)
	}
	return x
}

func equal(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
