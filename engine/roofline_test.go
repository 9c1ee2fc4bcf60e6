package engine

import (
	"fmt"
	"math"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/model"
	"konkanitrain/op"
)

// madeUpSpeed is a card with round numbers.
var madeUpSpeed = CardSpeed{Bytes: 1e11, Float32: 1e12, Tensor: 1e13, Double: 1e10, Processors: 10}

// By hand: what takes longest sets the time of a launch.
func TestSecondsOfALaunch(t *testing.T) {
	product := cuda.Product{M: 65, N: 64, K: 1000, Batch: 2, A: cuda.Matrix{Half: true}, B: cuda.Matrix{Half: true}}
	full := product
	full.A.Half, full.B.Half = false, false
	without := madeUpSpeed
	without.Tensor = 0
	for name, c := range map[string]struct {
		speed CardSpeed
		l     cuda.Launch
		want  float64 // beside the gap
	}{
		"bytes":                  {madeUpSpeed, cuda.Launch{Grid: [3]int{1000}, Bytes: 7e8, FLOPs: 1e6}, 7e8 / (0.7 * 1e11)},
		"operations":             {madeUpSpeed, cuda.Launch{Grid: [3]int{5, 2}, Bytes: 8, FLOPs: 1e9}, 1e9 / (0.5 * 1e12)},
		"half of the processors": {madeUpSpeed, cuda.Launch{Grid: [3]int{5}, Bytes: 8, FLOPs: 1e9}, 1e9 / (0.5 * 0.5 * 1e12)},
		"operations in float64":  {madeUpSpeed, cuda.Launch{Grid: [3]int{10}, FLOPs: 3e7, Doubles: 1e7}, (2e7/1e12 + 1e7/1e10) / 0.5},
		"a chain":                {madeUpSpeed, cuda.Launch{Grid: [3]int{1}, Bytes: 8, FLOPs: 8, Chain: 500}, 500 * 1.2e-6},
		"tensor cores, tiles":    {madeUpSpeed, cuda.Launch{Product: &product}, 2 * 128 * 64 * 1000 * 2 / (0.6 * 1e13)},
		"no tensor cores":        {without, cuda.Launch{Product: &product}, 2 * 128 * 64 * 1000 * 2 / (0.6 * 1e12)},
		"products in float32":    {madeUpSpeed, cuda.Launch{Product: &full}, 2 * 128 * 64 * 1000 * 2 / (0.6 * 1e12)},
	} {
		if got, want := c.speed.Seconds(&c.l), c.want+2e-6; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %g s, want %g", name, got, want)
		}
	}
	small := cuda.Launch{Grid: [3]int{1}, Bytes: 8}
	if got := madeUpSpeed.Eager(&small); got != 8e-6 {
		t.Errorf("a small launch of PyTorch's takes %g s, want what its host needs", got)
	}
}

// cardProgram compiles a training program of a small network for a card.
func cardProgram(t *testing.T, half bool) *Program {
	t.Helper()
	spec, _, err := buildSpec(tiny(4, 1), model.Shape{Batch: 2, Frames: 64, Tokens: 5}, model.Training)
	if err != nil {
		t.Fatal(err)
	}
	spec.Target, spec.Half = op.CUDA, half
	p, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Each op of a training program has an estimate here and on paper, and the rows add up to the whole, whose operations
// are those of the launches.
func TestCardTimes(t *testing.T) {
	for _, half := range []bool{false, true} {
		p := cardProgram(t, half)
		c := NewCardTimes(madeUpSpeed, half)
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
		const n = 1 << 20
		c.AddUpdate(n, op.CardUpdate([]int{n}, half, false).Launches)
		var sum CardTime
		before := math.Inf(1)
		for _, r := range c.Rows() {
			if r.Seconds > before || !(r.Seconds >= float64(r.Launches)*2e-6) || r.Calls == 0 || r.Launches < r.Calls && r.Op != "update" {
				t.Errorf("half %v: %+v", half, r)
			}
			if r.Eager == 0 && r.Op != "half.store" && r.Op != "half.load" {
				t.Errorf("half %v: %s takes PyTorch no time", half, r.Op)
			}
			before = r.Seconds
			sum.Add(r)
		}
		launches, flops := 3, 0.0
		for _, s := range p.Steps {
			launches += len(s.Kernel.Launches)
			for i := range s.Kernel.Launches {
				flops += s.Kernel.Launches[i].FLOPs
			}
		}
		for _, l := range op.CardUpdate([]int{n}, half, false).Launches {
			flops += l.FLOPs
		}
		all := c.Total()
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
		if all.Launches != launches || sum.Launches != launches || !near(all.FLOPs, flops) || !near(sum.Seconds, all.Seconds) || !near(sum.Eager, all.Eager) {
			t.Errorf("half %v: in all %+v, the rows come to %+v; want %d launches and %g operations", half, all, sum, launches, flops)
		}
	}
}

// By hand, in half precision: what PyTorch moves for a few ops, in bytes.
func TestEagerBytes(t *testing.T) {
	typ := func(shape ...int) *Operand { return &Operand{Type: op.Type{Shape: shape}} }
	step := func(name, params string, out *Operand, in ...*Operand) Step {
		return Step{Op: Work{Name: name, Params: params}, Out: out, In: in}
	}
	x, seeds := typ(2, 3, 8), typ(2, 2)
	for _, c := range []struct {
		step     Step
		bytes    int64
		launches int
	}{
		{step("layernorm", "", x, x, typ(8), typ(8)), 48 * (6 + 8 + 6), 3},
		{step("swish", "", x, x), 48 * 4, 1},
		{step("swish", "", x, x, seeds), 48 * (4 + 5), 2},
		{step("residual", "", x, x, x, seeds), 48 * (5 + 4 + 6), 3},
		{step("linear", "", typ(2, 3, 4), x, typ(4, 8), typ(4)), 32*6 + 2*(48+32+24), 2},
		// Scores [2, 4, 3, 5]: two products, the heads' order, the scale, the mask, softmax and the cast.
		{step("attention", "heads=4 causal=false", x, x, typ(2, 5, 8), typ(2, 5, 8), typ(2), typ(2)),
			48*4 + 2*(48+80+120) + 120*(4+5+6+6) + 2*(120+80+48), 7},
	} {
		launches, err := eagerLaunches(c.step, true)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, l := range launches {
			sum += l.Bytes
		}
		if sum != c.bytes || len(launches) != c.launches {
			t.Errorf("%s%v: %d bytes in %d launches, want %d in %d", c.step.Op.Name, len(c.step.In), sum, len(launches), c.bytes, c.launches)
		}
	}
	for _, s := range []Step{step("abacus", "", x), step("attention", "no heads", x, x, x, x, typ(2), typ(2))} {
		if launches, err := eagerLaunches(s, true); err == nil {
			t.Errorf("%s{%s}: %s", s.Op.Name, s.Op.Params, fmt.Sprint(launches))
		}
	}
}
