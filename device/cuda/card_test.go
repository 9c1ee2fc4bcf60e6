//go:build gpu

package cuda_test

import (
	"encoding/binary"
	"math"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
)

// open opens the simulated card.
func open(t *testing.T, change func(o *cuda.Options)) cuda.Card {
	t.Helper()
	l := simulated.Build(t, simulated.Options{})
	o := cuda.Options{Driver: l.Driver, BLAS: l.BLAS}
	if change != nil {
		change(&o)
	}
	c, err := cuda.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing the simulated card: %v", err)
		}
	})
	t.Logf("simulated: %s, %s", c.Info(), c.Info().BLAS)
	return c
}

func floats(x ...float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func TestLaunchSimulated(t *testing.T) {
	c := open(t, nil)
	ptx := ".version 7.8\n.target sm_60\n.address_size 64\n.visible .entry swish_f32(.param .u64 x, .param .u64 y, .param .u32 n, .param .u64 s, .param .u32 a, .param .u32 b, .param .f32 c)\n{ ret; }\n"
	if err := c.Load(map[string][]byte{"swish": []byte(ptx)}); err != nil {
		t.Fatal(err)
	}
	x, err := c.Alloc(40, "x")
	if err != nil {
		t.Fatal(err)
	}
	y, _ := c.Alloc(40, "y")
	x.WriteAt(floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 0)
	l, err := c.Bind([]cuda.Launch{{Kernel: "swish_f32", Block: 256, Args: []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.Out()), cuda.Int(10), cuda.Null(), cuda.Uint(0), cuda.Uint(0), cuda.Float(1)}}},
		func(_ int, r cuda.Ref) cuda.Address {
			if r.Place == cuda.Result {
				return cuda.AddressOf(y)
			}
			return cuda.AddressOf(x)
		})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(func(q cuda.Queue) error { return q.Run(l) }); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 40)
	if _, err := y.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		a := float64(i + 1)
		g := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])))
		if want := a / (1 + math.Exp(-a)); math.Abs(g-want) > 1e-6*want {
			t.Errorf("swish(%v) = %v, want %v", a, g, want)
		}
	}
	t.Log(c.Counters(), c.Usage())
}
