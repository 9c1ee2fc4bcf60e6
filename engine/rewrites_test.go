package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"konkanitrain/model"
	"konkanitrain/op"
)

// Each rewrite can be left out, and whatever is left computes the same: gradients have to come to lie in the flat
// buffer, the others are for speed and memory.
func TestEveryRewriteAlone(t *testing.T) {
	t.Parallel()
	optional := []struct {
		name    string
		rewrite func(*code) error
	}{{"fuseSums", fuseSums}, {"half", half}, {"recompute", recompute}, {"deadCode", deadCode}}
	c := tiny(4, 1)
	c.DModel = 32 // so that there are values worth storing in half precision
	network, _ := networkRig(t, c, model.Shape{Batch: 2, Frames: 130, Tokens: 10}, model.Training)
	rigs := map[string]*rig{"network": network, "small": small(t)}
	for seed := range uint64(5) {
		rigs[fmt.Sprint("graph ", seed)], _ = randomRig(t, seed, true)
	}
	for name, r := range rigs {
		want := r.reference()
		r.spec.Half, r.spec.Recompute = true, RecomputeBlocks
		sizes := map[string]int{}
		for set := range 1 << len(optional) {
			var what string
			var list []func(*code) error
			for i, o := range optional {
				if set>>i&1 == 1 {
					list, what = append(list, o.rewrite), what+" "+o.name
				}
				if o.name == "fuseSums" { // flatGradients comes behind it
					list = append(list, flatGradients)
				}
			}
			p, err := compile(r.spec, list)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Plan.Check(); err != nil {
				t.Error(err)
			}
			checkAliases(t, p)
			sizes[strings.TrimSpace(what)] = len(p.Steps)
			copy(r.grads, nans(r.layout.Bytes))
			m := r.bind(p)
			r.run(m, false)
			tol := 2e-5 // as for random graphs
			if strings.Contains(what, "half") {
				tol = 4e-3 // as in TestHalf
			}
			r.compare(name+" with"+what, r.results(m), want, tol)
		}
		if sizes["fuseSums"] > sizes[""] || sizes["recompute"] < sizes[""] || sizes["deadCode"] > sizes[""] {
			t.Errorf("%s: steps are %v", name, sizes)
		}
	}
}

// A rewrite that gives a kernel what it doesn't take is found before anything runs.
func TestTypesThatKernelsRefuse(t *testing.T) {
	change := func(opName string, to op.DType) func(*code) error {
		return func(c *code) error {
			for _, s := range c.steps {
				if s.op.Name == opName {
					s.in[0].typ.Of = to
				}
			}
			return nil
		}
	}
	r := small(t)
	for _, c := range []struct {
		op   string
		to   op.DType
		says string
	}{
		{"swish", op.Float16, "swish reads block.out, which is float16, as operand 0: its kernel for cpu takes float32 there"},
		{"swish", op.Int32, "which is int32"},
		{"ctc", op.Float64, "ctc reads ctc, which is float64"},
	} {
		_, err := compile(r.spec, append([]func(*code) error{change(c.op, c.to)}, rewrites...))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error is %v, want %q", err, c.says)
		}
	}
	// A kernel that takes another type too gets it.
	takes := func(c *code) error {
		for _, s := range c.steps {
			s.kernel.Floats = []op.DType{op.Float16}
		}
		return nil
	}
	list := append([]func(*code) error{change("swish", op.Float16), takes}, rewrites...)
	p, err := compile(r.spec, list)
	if err != nil {
		t.Fatal(err)
	}
	checkAliases(t, p) // the result of swish, twice as large now, doesn't take its operand's place
	list[0] = change("swish", op.Int32)
	if _, err := compile(r.spec, list); err == nil {
		t.Error("integers went to a kernel for floats of two sizes")
	}
}

// A target without kernels is named, with what there is.
func TestTargetWithoutKernels(t *testing.T) {
	r := small(t)
	r.spec.Target = "abacus"
	if _, err := Compile(r.spec); err == nil || !strings.Contains(err.Error(), "no kernel of layernorm for abacus: there is one for cpu") {
		t.Errorf("error is %v", err)
	}
	r.spec.Target = op.CPU
	if p, err := Compile(r.spec); err != nil || p.String() != small(t).compile().String() {
		t.Errorf("cpu is not what is meant by no target (%v)", err)
	}
}

// No op of the forward pass has several results, as those of the backward pass do, and none is added to another; the
// rewrites don't rely on that. Here "packed" of a block has parts, and "added" comes to lie on what the block begins
// with:
//
//	packed(x), deep(x), inner(deep@2), added onto first(x), out(inner, added); back(packed@2, added), end(back, inner)
func TestRecomputeOfPartsAndSums(t *testing.T) {
	of := func(name string, n int) *value {
		return &value{name: name, block: "b", typ: op.Type{Shape: []int{n}}}
	}
	x := &value{name: "x", typ: op.Type{Shape: []int{4}}, given: true}
	packed, deep, inner, first := of("packed", 8), of("deep", 8), of("inner", 4), of("first", 4)
	added, out, back := of("added", 4), of("out", 4), of("back", 4)
	part := func(whole *value) *value {
		return &value{name: whole.name + "@2", block: "b", typ: op.Type{Shape: []int{4}}, whole: whole, offset: 8}
	}
	back.backward = true
	c := &code{inputs: []*value{x}, outputs: map[string]*value{"back": back, "out": out}, steps: []*step{
		{op: op.NewAccumulate([]int{8}), out: packed, in: []*value{x}},
		{op: op.NewAccumulate([]int{8}), out: deep, in: []*value{x}},
		{op: op.NewAccumulate([]int{4}), out: inner, in: []*value{part(deep)}},
		{op: op.NewAccumulate([]int{4}), out: first, in: []*value{x}},
		{op: op.NewAccumulate([]int{4}), out: added, in: []*value{x}, onto: first},
		{op: op.NewSum([]int{4}), out: out, in: []*value{inner, added}},
		{op: op.NewSum([]int{4}), out: back, in: []*value{part(packed), added}, backward: true},
		{op: op.NewSum([]int{4}), out: of("end", 4), in: []*value{back, inner}, backward: true},
	}}
	c.recomputeBlock("b")
	var got []string
	for _, s := range c.steps {
		line := s.out.name + ":"
		for _, v := range s.in {
			line += fmt.Sprintf(" %s of %s+%d", v.name, v.root().name, v.offset)
		}
		got = append(got, line)
	}
	want := []string{
		"packed: x of x+0", "deep: x of x+0", "inner: deep@2 of deep+8", "first: x of x+0", "added: x of x+0", "out: inner of inner+0 added of added+0",
		"packed again: x of x+0", "deep again: x of x+0", "inner again: deep@2 of deep again+8",
		"back: packed@2 of packed again+8 added of added+0", "end: back of back+0 inner again of inner again+0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("steps are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
