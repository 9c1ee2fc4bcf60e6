package op_test

import (
	"fmt"
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// benchmark times each kernel of an op and of its gradient.
func benchmark(b *testing.B, build optest.Build, in []op.Array) {
	rig, err := optest.NewRig(build, in, nil)
	if err != nil {
		b.Fatal(err)
	}
	blas := op.NewBLAS()
	for _, n := range rig.Graph.AllNodes() {
		o, ok := n.Op().(*op.Op)
		if !ok || o.View != nil {
			continue
		}
		operands, err1 := rig.Run(optest.CPU(), op.Children(n)...)
		out, err2 := rig.Run(optest.CPU(), n)
		kernel, err3 := o.Kernel(op.CPU)
		for _, err := range []error{err1, err2, err3} {
			if err != nil {
				b.Fatal(err)
			}
		}
		env := optest.NewEnv(blas, kernel)
		b.Run(o.Name, func(b *testing.B) {
			for b.Loop() {
				kernel.Run(env, out[0], operands)
			}
			b.ReportMetric(o.FLOPs*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// BenchmarkAttention times the encoder's self-attention over s frames and the decoder's over l tokens.
func BenchmarkAttention(b *testing.B) {
	const d, heads = 192, 4
	for _, c := range []struct {
		name string
		s, l int
		p    float64
	}{{"drop", 150, 80, 0.1}, {"plain", 150, 80, 0}, {"long", 1500, 400, 0.1}} {
		r := optest.Rand(1)
		drop := op.Drop{P: c.p}
		rel := []op.Array{
			optest.Floats(r, 1, c.s, d), optest.Floats(r, 1, c.s, d), optest.Floats(r, 1, c.s, d), optest.Floats(r, 2*c.s-1, d),
			optest.Floats(r, heads, d/heads), optest.Floats(r, heads, d/heads), optest.Lengths(int32(4 * c.s)),
		}
		steps := optest.Lengths(int32(c.l))
		self := []op.Array{optest.Floats(r, 1, c.l, d), optest.Floats(r, 1, c.l, d), optest.Floats(r, 1, c.l, d), steps, steps}
		if c.p > 0 {
			rel, self = append(rel, optest.Seeds(1)), append(self, optest.Seeds(1))
		}
		b.Run(c.name+"/relative", func(b *testing.B) {
			benchmark(b, optest.BuildRelative(op.RelativeOptions{Heads: heads, Factor: 4, Drop: drop}), rel)
		})
		b.Run(c.name+"/causal", func(b *testing.B) {
			benchmark(b, optest.BuildAttention(op.AttentionOptions{Heads: heads, Causal: true, Drop: drop}), self)
		})
	}
}

func BenchmarkCTC(b *testing.B) {
	const s, v = 200, 100
	for _, u := range []int{20, 80} {
		targets := optest.Ints([]int{1, u}, optest.Tokens(2, u, v).Ints...)
		in := []op.Array{optest.Floats(optest.Rand(1), 1, s, v), optest.Lengths(s), targets, optest.Lengths(int32(u))}
		b.Run(fmt.Sprint("U=", u), func(b *testing.B) { benchmark(b, optest.BuildCTC(1, 0), in) })
	}
}

// The others are on 8 s of sound.

func BenchmarkChannelMajor(b *testing.B) {
	benchmark(b, optest.BuildChannelMajor, []op.Array{optest.Floats(optest.Rand(1), 1, 200, 20, 64)})
}

func BenchmarkSubsampleConv(b *testing.B) {
	r := optest.Rand(1)
	in := []op.Array{optest.Floats(r, 1, 800, 80), optest.Floats(r, 64, 1, 3, 3), optest.Floats(r, 64), optest.Lengths(800)}
	benchmark(b, optest.BuildSubsampleConv, in)
}

func BenchmarkSubsampleDepthwise(b *testing.B) {
	r := optest.Rand(1)
	in := []op.Array{optest.Floats(r, 1, 400, 40, 64), optest.Floats(r, 64, 1, 3, 3), optest.Floats(r, 64), optest.Lengths(800)}
	benchmark(b, optest.BuildSubsampleDepthwise(2), in)
}
