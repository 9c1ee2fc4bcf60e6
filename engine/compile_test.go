package engine

import (
	"maps"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// small is a graph of a few ops whose program can be read: normalization, attention over itself and a residual
// connection, then both losses.
func small(t *testing.T) *rig {
	t.Helper()
	r := testkit.Rand(3)
	g, feeds := op.NewGraph(), map[*G.Node]op.Array{}
	floats := func(name string, shape ...int) *G.Node {
		n := g.Input(name, shape...)
		feeds[n] = randomArray(r, 1, shape...)
		return n
	}
	ints := func(name string, shape []int, values ...int32) *G.Node {
		n := g.IntInput(name, shape...)
		feeds[n] = intArray(shape, values...)
		return n
	}
	gamma, beta := floats("norm.weight", 8), floats("norm.bias", 8)
	pos, u, v := floats("pos.weight", 8, 8), floats("bias_u", 2, 4), floats("bias_v", 2, 4)
	out, bias := floats("ctc.weight", 4, 8), floats("ctc.bias", 4)
	x, table := floats("x", 2, 6, 8), floats("positions", 11, 8)
	lengths, scale := ints("lengths", []int{2}, 6, 4), floats("scale", 1)
	targets, targetLengths := ints("targets", []int{2, 2}, 2, 3, 3, 0), ints("target_lengths", []int{2}, 2, 1)

	g.In("block")
	g.At("block.norm")
	h := g.LayerNorm(x, gamma, beta)
	g.Relu(h) // nobody reads it
	g.At("block.attn.pos")
	p := g.Linear(table, pos, nil)
	g.At("block.attn")
	y := g.RelativeAttention(h, h, h, p, u, v, lengths, nil, op.RelativeOptions{Heads: 2})
	g.At("block.out")
	y = g.Residual(x, 1, y, nil, op.Drop{})
	g.In("")
	z := g.Swish(y, nil, op.Drop{}) // at the same place
	g.At("ctc")
	logits := g.Linear(z, out, bias)
	g.At("ctc.loss")
	ctc := g.CTC(logits, lengths, targets, targetLengths, 1, 0)
	g.At("loss")
	loss := g.Total(scale, op.Share{Loss: ctc, Weight: 1})
	weights := []*G.Node{gamma, beta, pos, u, v, out, bias}
	grads := g.Grad(loss, append(slices.Clone(weights), x)...)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return newRig(t, Spec{
		Weights: weights, Grads: grads[:len(weights)], Shared: []*G.Node{table}, Loss: loss,
		Outputs: map[string]*G.Node{"ctc": ctc, "loss": loss},
	}, feeds)
}

func TestProgramText(t *testing.T) {
	r := small(t)
	p := r.compile()
	golden(t, "program.txt", p.String())
	again := small(t)
	again.spec.Recompute = RecomputeBlocks
	golden(t, "recompute.txt", again.compile().String())
	if again := r.compile().String(); again != p.String() {
		t.Error("the same graph compiled twice gives two programs")
	}
	if again := small(t).compile().String(); again != p.String() {
		t.Error("the same graph built twice gives two programs")
	}
	m := r.bind(p)
	r.run(m, false)
	r.compare("small graph", r.results(m), r.reference(), 1e-5)
}

// Dead code: what nobody asked for has no step, neither forward nor among the gradients that Grad builds.
func TestDeadCode(t *testing.T) {
	r := small(t)
	text := r.compile().String()
	for _, name := range []string{"relu", "unpack"} {
		if strings.Contains(text, name) {
			t.Errorf("a step for %s:\n%s", name, text)
		}
	}
	// Without gradients, only the forward steps of the output are left, and only the inputs they read.
	r.spec.Grads, r.spec.Outputs = nil, map[string]*G.Node{"ctc": r.spec.Outputs["ctc"]}
	p := r.compile()
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Op.Name)
	}
	if want := []string{"layernorm", "linear", "attention.relative", "residual", "swish", "linear", "ctc"}; !slices.Equal(names, want) {
		t.Errorf("steps are %v, want %v", names, want)
	}
	names = nil
	for _, in := range p.Inputs {
		names = append(names, in.Name)
	}
	if want := []string{"lengths", "target_lengths", "targets", "x"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("inputs are %v, want %v", names, want)
	}
}

// A view lies inside what it is a view of: the readers of the packed gradient find their parts at the offsets of
// the parts, and no step copies them.
func TestViewsAreAliases(t *testing.T) {
	p := small(t).compile()
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Op.Name == "attention.relative.grad" })
	packed := p.Steps[i].Out
	offsets := map[int64]bool{}
	for _, s := range p.Steps[i+1:] {
		for _, in := range s.In {
			if in.Space == Arena && in.Buffer == packed.Buffer {
				offsets[in.Offset-packed.Offset] = true
			}
		}
	}
	// dq, dk, dv of 2·6·8 elements each, dp of 11·8, du and dw of 8
	want := []int64{0, 4 * 96, 4 * 192, 4 * 288, 4 * 376, 4 * 384}
	if got := slices.Sorted(maps.Keys(offsets)); !slices.Equal(got, want) {
		t.Errorf("parts of the packed gradient are read at %v, want %v", got, want)
	}
}

// Weights with one gradient node, a gradient that is an output as well, and an output with two names.
func TestOneNodeInSeveralRoles(t *testing.T) {
	r := testkit.Rand(4)
	g, feeds := op.NewGraph(), map[*G.Node]op.Array{}
	floats := func(name string, shape ...int) *G.Node {
		n := g.Input(name, shape...)
		feeds[n] = randomArray(r, 1, shape...)
		return n
	}
	a, b, w := floats("a", 1, 3, 4), floats("b", 1, 3, 4), floats("w", 5, 4)
	lengths, targets, targetLengths := g.IntInput("lengths", 1), g.IntInput("targets", 1, 2), g.IntInput("target_lengths", 1)
	feeds[lengths], feeds[targets], feeds[targetLengths] = intArray([]int{1}, 3), intArray([]int{1, 2}, 4, 3), intArray([]int{1}, 2)
	sum := g.Residual(a, 1, b, nil, op.Drop{}) // the gradients of a and b are one node
	logits := g.Linear(sum, w, nil)
	loss := g.Total(floats("scale", 1), op.Share{Loss: g.CrossEntropy(logits, targets, targetLengths, 0), Weight: 1})
	weights := []*G.Node{a, b, w}
	grads := g.Grad(loss, weights...)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if grads[0] != grads[1] {
		t.Fatal("the gradients of a and b are two nodes: this test has lost its point")
	}
	rig := newRig(t, Spec{Weights: weights, Grads: grads, Loss: loss, Outputs: map[string]*G.Node{
		"sum": sum, "sum again": sum, "dw": grads[2], "da": grads[0], "weight": w, "input": lengths,
	}}, feeds)
	m := rig.bind(rig.compile())
	rig.run(m, false)
	got, want := rig.results(m), rig.reference()
	delete(want, "input")
	rig.compare("roles", got, want, 1e-5)
	if out := m.Output("input"); len(out.Ints) != 1 || out.Ints[0] != 3 {
		t.Errorf("the input as an output is %+v", out)
	}
	if out := m.Output("nothing"); out.Data != nil {
		t.Errorf("an output that isn't there is %+v", out)
	}
}

// A gradient that is one part of a vector, and the only one that anybody asks for: it is copied, not the vector. And an
// output that is a part: the vector stays.
func TestPartsThatAreAskedFor(t *testing.T) {
	s := &sketch{op.NewGraph(), map[*G.Node]op.Array{}, map[string]*G.Node{}}
	targets, targetLengths := s.IntInput("targets", 1, 2), s.IntInput("target_lengths", 1)
	s.feeds[targets], s.feeds[targetLengths] = intArray([]int{1, 2}, 3, 3), intArray([]int{1}, 2)
	x := s.through(s.through(s.through(s.leaf("x", 1, 3, 4), "w0"), "w1"), "w2")
	y := s.LayerNorm(s.plus(s.leaf("e", 1, 3, 4), x), s.leaf("gamma", 4), s.leaf("beta", 4))
	loss := s.Total(s.leaf("scale", 1), op.Share{Loss: s.CrossEntropy(y, targets, targetLengths, 0), Weight: 1})
	weights := []*G.Node{s.named["gamma"], s.named["w0"]}
	grads := s.Grad(loss, s.named["gamma"], s.named["w0"], s.named["beta"], s.named["e"])
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	outputs := map[string]*G.Node{"gradient of beta": grads[2], "gradient of e": grads[3]}
	for what, spec := range map[string]Spec{
		"a gradient":               {Weights: weights[:1], Grads: grads[:1], Loss: loss},
		"an output":                {Weights: weights[:1], Outputs: outputs, Loss: loss},
		"a gradient and an output": {Weights: weights, Grads: grads[:2], Outputs: outputs, Loss: loss},
	} {
		r := newRig(t, spec, s.feeds)
		m := r.bind(r.compile())
		r.run(m, false)
		r.compare(what, r.results(m), r.reference(), 2e-6) // a norm, a softmax and products in float32
	}
}

func TestCompileErrors(t *testing.T) {
	r := small(t)
	x := r.spec.Weights[0]
	spec := func(change func(*Spec)) Spec {
		s := r.spec
		s.Outputs = maps.Clone(s.Outputs)
		change(&s)
		return s
	}
	for _, c := range []struct {
		spec Spec
		says string
	}{
		{spec(func(s *Spec) { s.Grads = s.Grads[1:] }), "6 gradients for 7 weights"},
		{spec(func(s *Spec) { s.Loss = nil }), "want one for each, and a loss"},
		{spec(func(s *Spec) { s.Grads = append(slices.Clone(s.Grads[:6]), nil) }), "weight ctc.bias has no gradient"},
		{spec(func(s *Spec) { s.Outputs["nil"] = nil }), "output nil has no node"},
		{spec(func(s *Spec) { s.Outputs["foreign"] = G.Must(G.Square(x)) }), "build the graph from package op only"},
		{spec(func(s *Spec) {
			s.Outputs["constant"] = G.Must(G.Add(s.Loss, G.NewConstant(float32(2))))
		}), "only the 1 that seeds Grad is known"},
	} {
		if _, err := Compile(c.spec); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error is %v, want %q", err, c.says)
		}
	}
}

func TestBindErrors(t *testing.T) {
	r := small(t)
	p := r.compile()
	full := Memory{Arena: nans(p.Plan.Size), Layout: r.layout, Weights: r.flat, Grads: r.grads, Shared: r.shared}
	for _, c := range []struct {
		change func(*Memory)
		says   string
	}{
		{func(m *Memory) { m.Arena = m.Arena[4:] }, "needs an arena of"},
		{func(m *Memory) { m.Grads = nil }, "grad("},
		{func(m *Memory) { m.Shared = nil }, "shared(positions)"},
		{func(m *Memory) { m.Layout, _ = NewLayout(nil) }, "needs 32 bytes, there are 0"},
	} {
		m := full
		c.change(&m)
		if _, err := p.Bind(m); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error is %v, want %q", err, c.says)
		}
	}
}
