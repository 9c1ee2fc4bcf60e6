package engine

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

var update = flag.Bool("update", false, "write the golden texts in testdata anew")

// golden compares text with testdata/name.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s has changed (write it anew with -update if it should have):\n%s", path, text)
	}
}

// rig is a graph with values for all its leaves, and everything that is needed to run it in planned memory.
type rig struct {
	t      *testing.T
	spec   Spec
	feeds  map[*G.Node]op.Array // of all leaves
	layout *Layout
	flat   []byte // weights
	grads  []byte
}

// newRig takes a graph's spec and the values of its leaves. The gradients start as NaN: a run has to replace them.
func newRig(t *testing.T, spec Spec, feeds map[*G.Node]op.Array) *rig {
	t.Helper()
	r := &rig{t: t, spec: spec, feeds: feeds}
	var parameters []Parameter
	for _, w := range spec.Weights {
		parameters = append(parameters, Parameter{Name: w.Name(), Shape: w.Shape()})
	}
	var err error
	if r.layout, err = NewLayout(parameters); err != nil {
		t.Fatal(err)
	}
	r.flat = zeroBytes(r.layout.Bytes)
	for _, w := range spec.Weights {
		fill(op.Tensor{Data: floats(r.layout.view(r.flat, w.Name()))}, feeds[w])
	}
	if spec.Grads != nil {
		r.grads = nans(r.layout.Bytes)
	}
	return r
}

func (r *rig) compile() *Program {
	r.t.Helper()
	p, err := Compile(r.spec)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := p.Plan.Check(); err != nil {
		r.t.Fatal(err)
	}
	checkAliases(r.t, p)
	checkReads(r.t, p)
	return p
}

// checkAliases fails if a step's result or scratch space shares memory with an operand in the arena, other than a
// result that takes over an operand whole, as its kernel allows, and one that is added to what is there.
func checkAliases(t *testing.T, p *Program) {
	t.Helper()
	type span struct{ start, end int64 } // bytes of the arena
	at := func(o *Operand) span {
		start := p.Plan.Offsets[o.Buffer] + o.Offset
		return span{start, start + o.Type.Bytes()}
	}
	overlap := func(a, b span) bool { return a.start < b.end && b.start < a.end }
	for i, s := range p.Steps {
		for _, o := range append(slices.Clone(s.In), s.Out) {
			if o.Space == Arena && (o.Offset < 0 || o.Offset+o.Type.Bytes() > p.Plan.Buffers[o.Buffer].Size) {
				t.Errorf("step %d, %s: %s lies outside its buffer of %d bytes", i, s.Op.Name, o.Name, p.Plan.Buffers[o.Buffer].Size)
			}
		}
		var scratch span
		if s.Scratch >= 0 {
			start := p.Plan.Offsets[s.Scratch]
			scratch = span{start, start + s.Kernel.Scratch}
			if size := p.Plan.Buffers[s.Scratch].Size; size != s.Kernel.Scratch {
				t.Errorf("step %d, %s: %d bytes of scratch space, the kernel needs %d", i, s.Op.Name, size, s.Kernel.Scratch)
			}
		}
		if s.Scratch < 0 && s.Kernel.Scratch > 0 {
			t.Errorf("step %d, %s: no scratch space, the kernel needs %d bytes", i, s.Op.Name, s.Kernel.Scratch)
		}
		if s.Out.Space == Arena && overlap(at(s.Out), scratch) {
			t.Errorf("step %d, %s: the result lies on the scratch space", i, s.Op.Name)
		}
		for k, in := range s.In {
			if in.Space != Arena {
				continue
			}
			if overlap(at(in), scratch) {
				t.Errorf("step %d, %s: operand %d lies on the scratch space", i, s.Op.Name, k)
			}
			if s.Out.Space != Arena || !overlap(at(in), at(s.Out)) {
				continue
			}
			if s.Add || !slices.Contains(s.Kernel.InPlace, k) || at(in) != at(s.Out) {
				t.Errorf("step %d, %s: the result lies on operand %d", i, s.Op.Name, k)
			}
		}
	}
}

// checkReads carries a program out with names in place of numbers: whatever a step reads must be what was written there
// last, and so must the outputs at the end.
func checkReads(t *testing.T, p *Program) {
	t.Helper()
	const unit = 2 // bytes: the smallest element
	const scratch = "scratch"
	holds := make([]string, p.Plan.Size/unit)
	at := func(o *Operand) []string {
		start := p.Plan.Offsets[o.Buffer] + o.Offset
		return holds[start/unit : (start+o.Type.Bytes())/unit]
	}
	set := func(memory []string, name string) {
		for i := range memory {
			memory[i] = name
		}
	}
	read := func(who string, o *Operand) {
		name, _, _ := strings.Cut(o.Name, "@") // a part belongs to a whole
		for _, held := range at(o) {
			if held != name {
				t.Errorf("%s reads %s where %q lies", who, o.Name, held)
				return
			}
		}
	}
	for _, in := range p.Inputs {
		set(at(&in), in.Name)
	}
	for i, s := range p.Steps {
		if s.Scratch >= 0 {
			start := p.Plan.Offsets[s.Scratch]
			set(holds[start/unit:(start+s.Kernel.Scratch)/unit], scratch)
		}
		who := fmt.Sprintf("step %d, %s,", i, s.Op.Name)
		for _, in := range s.In {
			if in.Space == Arena {
				read(who, in)
			}
		}
		if s.Out.Space != Arena {
			continue
		}
		if held := at(s.Out); s.Add && (held[0] == "" || held[0] == scratch || held[0] != held[len(held)-1]) {
			t.Errorf("%s adds to %q and %q", who, held[0], held[len(held)-1])
		}
		set(at(s.Out), s.Out.Name)
	}
	for name, o := range p.Outputs {
		if o.Space == Arena {
			read("output "+name, &o)
		}
	}
}

// bind puts p into an arena full of NaN, so that whatever is read before it is written shows.
func (r *rig) bind(p *Program) *Machine {
	r.t.Helper()
	m, err := p.Bind(Memory{Arena: nans(p.Plan.Size), Layout: r.layout, Weights: r.flat, Grads: r.grads, Shared: r.shared})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *rig) shared(name string, _ tensor.Shape) []float32 {
	for _, n := range r.spec.Shared {
		if n.Name() == name {
			t := op.Tensor{Data: make([]float32, op.Size(n.Shape()))}
			fill(t, r.feeds[n])
			return t.Data
		}
	}
	return nil
}

// fill writes all inputs of m.
func (r *rig) fill(m *Machine) {
	for n, a := range r.feeds {
		if in := m.Input(n.Name()); in.Data != nil || in.Ints != nil {
			fill(in, a)
		}
	}
}

func (r *rig) run(m *Machine, add bool) {
	r.fill(m)
	m.Run(&op.Env{BLAS: op.NewBLAS()}, add, nil)
}

// results are copies of all outputs and gradients, by name; a gradient's is that of its weight with "grad " before it.
func (r *rig) results(m *Machine) map[string][]float32 {
	all := map[string][]float32{}
	for name := range r.spec.Outputs {
		all[name] = slices.Clone(m.Output(name).Data)
	}
	for i := range r.spec.Grads {
		name := r.spec.Weights[i].Name()
		all["grad "+name] = r.gradient(name)
	}
	return all
}

// gradient is a copy of a weight's gradient.
func (r *rig) gradient(name string) []float32 {
	return slices.Clone(floats(r.layout.view(r.grads, name)))
}

// nodes are the graph's nodes behind results.
func (r *rig) nodes() map[string]*G.Node {
	all := maps.Clone(r.spec.Outputs)
	if all == nil {
		all = map[string]*G.Node{}
	}
	for i, n := range r.spec.Grads {
		all["grad "+r.spec.Weights[i].Name()] = n
	}
	return all
}

// reference are the results by the specifications in float64.
func (r *rig) reference() map[string][]float64 {
	r.t.Helper()
	nodes := r.nodes()
	names := slices.Sorted(maps.Keys(nodes))
	var list []*G.Node
	for _, name := range names {
		list = append(list, nodes[name])
	}
	arrays, err := optest.Reference(r.feeds, list...)
	if err != nil {
		r.t.Fatal(err)
	}
	all := map[string][]float64{}
	for i, name := range names {
		all[name] = arrays[i].Data
	}
	return all
}

// tape are the losses and gradients that Gorgonia's own machine computes; other outputs it may overwrite.
func (r *rig) tape(g *op.Graph) map[string][]float64 {
	r.t.Helper()
	for n, a := range r.feeds {
		v := op.Tensor{Data: make([]float32, len(a.Data)), Ints: slices.Clone(a.Ints)}
		fill(v, a)
		var backing any = v.Data
		if a.Ints != nil {
			backing = v.Ints
		}
		if err := G.Let(n, tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(backing))); err != nil {
			r.t.Fatal(err)
		}
	}
	m := G.NewTapeMachine(g.ExprGraph)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		r.t.Fatal(err)
	}
	all := map[string][]float64{}
	for name, n := range r.nodes() {
		if _, output := r.spec.Outputs[name]; output && name != "loss" {
			continue
		}
		v, err := op.FromValue(n.Value())
		if err != nil {
			r.t.Fatal(err)
		}
		all[name] = doubles(v.Data)
	}
	return all
}

// compare fails for each result that is off by more than tol times the largest value of want. The gradient of
// key biases is 0 in exact arithmetic, so gradients are held to a floor: a share of the largest gradient of all.
func (r *rig) compare(what string, got map[string][]float32, want map[string][]float64, tol float64) {
	r.t.Helper()
	largest := 0.0
	for i := range r.spec.Grads {
		largest = max(largest, size(want["grad "+r.spec.Weights[i].Name()]))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		floor := 0.0
		if _, output := r.spec.Outputs[name]; !output {
			floor = largest / 20
		}
		if d := testkit.MaxAbs(doubles(got[name]), want[name]); !(d <= tol*max(size(want[name]), floor)) {
			r.t.Errorf("%s: %s is off by %.2g, its largest value is %.2g, the largest gradient %.2g", what, name, d, size(want[name]), largest)
		}
	}
}

// size is the largest absolute value.
func size(x []float64) float64 { return testkit.MaxAbs(x, make([]float64, len(x))) }

func fill(t op.Tensor, a op.Array) {
	copy(t.Ints, a.Ints)
	for i, v := range a.Data {
		t.Data[i] = float32(v)
	}
}

func doubles(x []float32) []float64 {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = float64(v)
	}
	return d
}

// zeroBytes are n bytes of zeros, aligned as a device's are.
func zeroBytes(n int64) []byte {
	memory := make([]byte, n+align)
	offset := int64(-uintptr(unsafe.Pointer(&memory[0])) & (align - 1))
	return memory[offset : offset+n : offset+n]
}

// nans are n bytes that are NaN as float32, aligned as a device's are.
func nans(n int64) []byte {
	memory := zeroBytes(n)
	for i := range floats(memory) {
		floats(memory)[i] = float32(math.NaN())
	}
	return memory
}

// randomArray is normally distributed, exact in float32.
func randomArray(r *rand.Rand, scale float64, shape ...int) op.Array {
	a := op.Array{Data: make([]float64, op.Size(shape)), Shape: shape}
	for i := range a.Data {
		a.Data[i] = float64(float32(scale * r.NormFloat64()))
	}
	return a
}

func intArray(shape []int, values ...int32) op.Array {
	if len(values) != op.Size(shape) {
		panic(fmt.Sprintf("%d values for shape %v", len(values), shape))
	}
	return op.Array{Ints: values, Shape: shape}
}
