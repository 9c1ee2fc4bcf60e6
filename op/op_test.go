package op_test

import (
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		of    op.DType
		bytes int64
		name  string
	}{{op.Float32, 4, "float32"}, {op.Float16, 2, "float16"}, {op.Int32, 4, "int32"}, {op.Float64, 8, "float64"}} {
		x := op.Type{Shape: []int{3, 5}, Of: c.of}
		if c.of.Bytes() != c.bytes || x.Bytes() != 15*c.bytes || x.Elements() != 15 || c.of.String() != c.name {
			t.Errorf("%v: %d bytes, %d for 15; want %s of %d", c.of, c.of.Bytes(), x.Bytes(), c.name, c.bytes)
		}
	}
	if scalar := (op.Type{}); scalar.Bytes() != 4 {
		t.Errorf("a scalar takes %d bytes", scalar.Bytes())
	}
}

// A target without a kernel is an error that names the op, the target and where there is one.
func TestKernelOfAnotherTarget(t *testing.T) {
	o := op.NewFinite(3)
	if _, err := o.Kernel(op.CPU); err != nil {
		t.Error(err)
	}
	_, err := o.Kernel("abacus")
	if want := "no kernel of finite for abacus: there is one for cpu"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// Values of another type or shape are errors that name the input.
func TestDoOfOtherValues(t *testing.T) {
	o := op.NewSum([]int{2, 3})
	good := tensor.New(tensor.WithShape(2, 3), tensor.Of(tensor.Float32))
	for want, bad := range map[string]*tensor.Dense{
		"input 1 of sum{}([2×3], [2×3]) [2×3]: the shape is (3, 2)": tensor.New(tensor.WithShape(3, 2), tensor.Of(tensor.Float32)),
		"input 1 of sum{}([2×3], [2×3]) [2×3]: ":                    tensor.New(tensor.WithShape(2, 3), tensor.Of(tensor.Float64)),
	} {
		if v, err := o.Do(good, bad); v != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, %v, want the error %s", v, err, want)
		}
	}
	if v, err := o.Do(good, good); v == nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// Ops made outside of graphs state their types and what they change.
func TestTypesOutsideOfGraphs(t *testing.T) {
	for _, c := range []struct {
		o    *op.Op
		want string
	}{
		{op.NewSum([]int{2, 3}), "sum{}([2×3], [2×3]) [2×3]"},
		{op.NewAccumulate([]int{2, 3}), "accumulate{}([2×3]) [2×3]"},
		{op.NewHalfStore(5), "half.store{}([5]) [5] float16"},
		{op.NewHalfLoad(5), "half.load{}([5]) [5]"},
		{op.NewReduce(7, 2), "reduce{}([7], [7]) [1] float64"},
		{op.NewAdamW(7), "adamw{}([7], [7], [7], [7], [8]) [7]"},
		{op.NewFinite(7), "finite{}([7]) [1] int32"},
		{op.NewMeanAdd(7), "mean.add{}([7], [7], [7]) [7]"},
		{op.NewMeanEnd(7, 3), "mean.end{3}([7]) [7]"},
	} {
		if got := c.o.String(); got != c.want || c.o.Arity() != len(c.o.In) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// An op stands where the graph says, and its gradient where the op stands. That is not part of its identity.
func TestPlaces(t *testing.T) {
	g := op.NewGraph()
	x, w, seeds := g.Input("x", 2, 4), g.Input("w", 4, 4), g.IntInput("seeds", 2, 2)
	g.In("encoder.blocks.3")
	g.At("encoder.blocks.3.ffn1.up")
	up := g.Linear(x, w, nil)
	again := g.Linear(x, w, nil)
	g.At("encoder.blocks.3.ffn1.norm")
	norm := g.LayerNorm(up, g.Input("gamma", 4), g.Input("beta", 4))
	g.In("")
	g.At("head")
	y := g.Swish(norm, seeds, op.Drop{P: 0.1, Site: 1})
	elsewhere := g.Linear(x, w, nil)
	dy := g.Input("dy", 2, 4)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if again != up || elsewhere != up {
		t.Error("one op at two places is two nodes")
	}
	if _, err := G.Backpropagate(G.Nodes{y}, G.Nodes{dy}, G.Nodes{x, w}); err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{
		"linear": {"encoder.blocks.3.ffn1.up", "encoder.blocks.3"}, "linear.dx": {"encoder.blocks.3.ffn1.up", "encoder.blocks.3"},
		"linear.dw": {"encoder.blocks.3.ffn1.up", "encoder.blocks.3"}, "layernorm": {"encoder.blocks.3.ffn1.norm", "encoder.blocks.3"},
		"layernorm.grad": {"encoder.blocks.3.ffn1.norm", "encoder.blocks.3"}, "unpack": {"encoder.blocks.3.ffn1.norm", "encoder.blocks.3"},
		"swish": {"head", ""}, "swish.grad": {"head", ""},
	}
	seen := map[string]bool{}
	for _, n := range g.AllNodes() {
		if o, ok := n.Op().(*op.Op); ok {
			seen[o.Name] = true
			if got := [2]string{o.Place, o.Block}; got != want[o.Name] {
				t.Errorf("%v stands at %q of block %q, want %q", o, o.Place, o.Block, want[o.Name])
			}
			if strings.Contains(o.String(), "encoder") {
				t.Errorf("the place is part of %v", o)
			}
		}
	}
	if len(seen) != len(want) {
		t.Errorf("the graph has %v, want all of %v", seen, want)
	}
}

// An absent row is known by the length of its target as well: a decoder's token that nobody looks at is none.
func TestAbsentRowsHaveNoSteps(t *testing.T) {
	r := optest.Rand(5)
	in := []op.Array{
		optest.Floats(r, 2, 3, 4), optest.Floats(r, 2, 3, 4), optest.Floats(r, 2, 3, 4), optest.Lengths(-1, 2), optest.Lengths(-1, 2),
	}
	rig := newRig(t, optest.BuildAttention(op.AttentionOptions{Heads: 2, Causal: true, QueryExtra: 1, KeyExtra: 1}), in, nil)
	for i, x := range run(t, rig, rig.Results()...) {
		for j, v := range x.Data[:12] {
			if v != 0 {
				t.Errorf("result %d of the absent row: element %d is %g", i, j, v)
			}
		}
	}
}

// The operations that profiles count are those of the products: of attention both, over half the pairs where it is
// causal.
func TestFLOPs(t *testing.T) {
	g := op.NewGraph()
	x := g.Input("x", 2, 5, 6)
	flops := func(n *G.Node) float64 { return n.Op().(*op.Op).FLOPs }
	lengths := g.IntInput("lengths", 2)
	attention := func(causal bool) *G.Node {
		return g.Attention(x, x, x, lengths, lengths, nil, op.AttentionOptions{Heads: 2, Causal: causal})
	}
	for want, n := range map[float64]*G.Node{
		2 * 2 * 5 * 6 * 7:       g.Linear(x, g.Input("w", 7, 6), nil),
		2 * 2 * (2 * 5 * 5 * 6): attention(false),
		2 * (2 * 5 * 5 * 6):     attention(true),
	} {
		if g.Err() != nil || flops(n) != want {
			t.Errorf("%g operations, want %g (%v)", flops(n), want, g.Err())
		}
	}
}
