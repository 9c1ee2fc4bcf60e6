package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The harness checks an op in every way there is: Run against Ref, the gradient against finite differences of
// Ref, the gradient's Run against its Ref, and all of it on Gorgonia's tape.

// floats is an operand of values drawn from a normal distribution, exact in float32.
func floats(r *rand.Rand, shape ...int) Array {
	a := Array{Data: make([]float64, Size(shape)), Shape: shape}
	for i := range a.Data {
		a.Data[i] = float64(float32(r.NormFloat64()))
	}
	return a
}

// ints is an integer operand.
func ints(shape []int, values ...int32) Array { return Array{Ints: values, Shape: shape} }

// rng gives the same numbers at each run of a test.
func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// dot is the test's own scalar loss: the sum of x*w, with w as the gradient that flows into x.
func (g *Graph) dot(x, w *G.Node) *G.Node {
	return g.add(func(in []Type) (*Op, error) {
		return &Op{
			Name: "test.dot", Out: tensor.ScalarShape(), wrt: []bool{true, false},
			Run: func(_ *Env, out Tensor, in []Tensor) {
				s := 0.0
				for i, v := range in[0].Data {
					s += float64(v) * float64(in[1].Data[i])
				}
				out.Data[0] = float32(s)
			},
			Ref: func(out Array, in []Array) {
				out.Data[0] = 0
				for i, v := range in[0].Data {
					out.Data[0] += v * in[1].Data[i]
				}
			},
			grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
				dx, err := build(func([]Type) (*Op, error) {
					return &Op{
						Name: "test.dot.dx", Out: in[1].Shape().Clone(),
						Run: func(_ *Env, out Tensor, in []Tensor) {
							for i, v := range in[0].Data {
								out.Data[i] = v * in[1].Data[0]
							}
						},
						Ref: func(out Array, in []Array) {
							for i, v := range in[0].Data {
								out.Data[i] = v * in[1].Data[0]
							}
						},
					}, nil
				}, in[1], dy)
				return G.Nodes{dx, nil}, err
			},
		}, nil
	}, x, w)
}

// bench is a graph of one op under test, with a random gradient flowing into it.
type bench struct {
	g      *Graph
	in     []*G.Node
	feeds  map[*G.Node]Array
	out    *G.Node
	loss   *G.Node
	grads  G.Nodes // of the float inputs for which differentiable is true
	wrt    G.Nodes
	weight Array // what flows into out
}

// newBench builds the op on the operands. skip lists inputs without a gradient beside the integer ones.
func newBench(t *testing.T, build func(g *Graph, in []*G.Node) *G.Node, in []Array, weight *Array, skip ...int) *bench {
	t.Helper()
	b := &bench{g: NewGraph(), feeds: map[*G.Node]Array{}}
	for i, a := range in {
		var n *G.Node
		if a.Ints != nil {
			n = b.g.IntInput(fmt.Sprintf("in.%d", i), a.Shape...)
		} else {
			n = b.g.Input(fmt.Sprintf("in.%d", i), a.Shape...)
			if !slices.Contains(skip, i) {
				b.wrt = append(b.wrt, n)
			}
		}
		b.in = append(b.in, n)
		b.feeds[n] = a
	}
	b.out = build(b.g, b.in)
	if err := b.g.Err(); err != nil {
		t.Fatal(err)
	}
	b.loss = b.out
	if b.out.Shape().Dims() > 0 {
		w := b.g.Input("weight", b.out.Shape()...)
		if weight == nil {
			v := floats(rng(99), b.out.Shape()...)
			weight = &v
		}
		b.weight = *weight
		b.feeds[w] = *weight
		b.loss = b.g.dot(b.out, w)
	}
	if len(b.wrt) > 0 {
		b.grads = b.g.Grad(b.loss, b.wrt...)
	}
	if err := b.g.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) reference(t *testing.T, nodes ...*G.Node) []Array {
	t.Helper()
	out, err := Reference(b.feeds, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// run evaluates nodes with the float32 kernels, each result in fresh memory full of NaN, so that an element
// that a kernel doesn't write is seen.
func (b *bench) run(t *testing.T, nodes ...*G.Node) []Tensor {
	t.Helper()
	done := map[*G.Node]Tensor{}
	var eval func(n *G.Node) Tensor
	eval = func(n *G.Node) Tensor {
		if v, ok := done[n]; ok {
			return v
		}
		out := Tensor{Shape: n.Shape()}
		if a, ok := b.feeds[n]; ok {
			out = a.tensor()
		} else {
			var in []Tensor
			for _, c := range Children(n) {
				in = append(in, eval(c))
			}
			out.Data = nans(Size(n.Shape()))
			switch o := n.Op().(type) {
			case *Op:
				o.Run(&Env{BLAS: NewBLAS(), Scratch: nans(o.Scratch)}, out, in)
			default:
				if len(in) == 0 {
					out.Data[0] = 1
				} else {
					for i := range out.Data {
						out.Data[i] = in[0].Data[i] + in[1].Data[i]
					}
				}
			}
		}
		done[n] = out
		return out
	}
	var out []Tensor
	for _, n := range nodes {
		out = append(out, eval(n))
	}
	return out
}

func (a Array) tensor() Tensor {
	t := Tensor{Ints: a.Ints, Shape: a.Shape}
	if a.Ints == nil {
		t.Data = make([]float32, len(a.Data))
		for i, v := range a.Data {
			t.Data[i] = float32(v)
		}
	}
	return t
}

func nans(n int) []float32 { return slices.Repeat([]float32{float32(math.NaN())}, n) }

// checkOp runs every check. tol bounds |Run - Ref| relative to the largest value of the tensor; finite
// differences in float64 are held to 1e-6 of the gradient's size (their own error is about 1e-9 for the
// smooth functions here).
func checkOp(t *testing.T, tol float64, build func(g *Graph, in []*G.Node) *G.Node, in []Array, skip ...int) {
	t.Helper()
	b := newBench(t, build, in, nil, skip...)
	nodes := append(G.Nodes{b.out}, b.grads...)
	want, got := b.reference(t, nodes...), b.run(t, nodes...)
	for i, n := range nodes {
		closeTo(t, fmt.Sprintf("Run of %v", n.Op()), got[i].Data, want[i].Data, tol)
	}
	b.finiteDifferences(t)
	b.tape(t, got)
}

// closeTo fails if got differs from want by more than tol times the largest value of want, anywhere.
func closeTo(t *testing.T, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	size := 1e-30
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i, v := range want {
		if d := math.Abs(float64(got[i]) - v); !(d <= tol*size) {
			t.Fatalf("%s: element %d is %g, want %g (off by %.2g of the largest value, allowed %.2g)", what, i, got[i], v, d/size, tol)
		}
	}
}

// finiteDifferences compares each gradient with central differences of Ref in random directions.
func (b *bench) finiteDifferences(t *testing.T) {
	t.Helper()
	const h = 1e-5
	r := rng(5)
	for i, n := range b.wrt {
		grad := b.reference(t, b.grads[i])[0]
		base := b.feeds[n]
		for range 3 {
			dir := floats(r, base.Shape...)
			move := func(step float64) float64 {
				moved := Array{Data: slices.Clone(base.Data), Shape: base.Shape}
				for j := range moved.Data {
					moved.Data[j] += step * dir.Data[j]
				}
				b.feeds[n] = moved
				defer func() { b.feeds[n] = base }()
				return b.reference(t, b.loss)[0].Data[0]
			}
			numeric := (move(h) - move(-h)) / (2 * h)
			analytic, size := 0.0, 1e-12
			for j, v := range grad.Data {
				analytic += v * dir.Data[j]
				size += math.Abs(v * dir.Data[j])
			}
			if d := math.Abs(numeric - analytic); !(d <= 1e-6*max(size, 1e-3)) {
				t.Fatalf("gradient of input %s: finite differences give %g, the op %g", n.Name(), numeric, analytic)
			}
		}
	}
}

// tape runs the same graph on Gorgonia's stock machine: the same kernels, with gonum's products.
func (b *bench) tape(t *testing.T, want []Tensor) {
	t.Helper()
	for n, a := range b.feeds {
		v := a.tensor()
		var backing any = v.Data
		if v.Ints != nil {
			backing = v.Ints
		}
		if err := G.Let(n, tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(backing))); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.g.uniqueHashes(); err != nil {
		t.Fatal(err)
	}
	m := G.NewTapeMachine(b.g.ExprGraph)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		t.Fatal(err)
	}
	for i, n := range b.grads {
		v, err := FromValue(n.Value())
		if err != nil {
			t.Fatal(err)
		}
		as64 := make([]float64, len(v.Data))
		for j, x := range want[i+1].Data {
			as64[j] = float64(x)
		}
		closeTo(t, "tape: "+n.Op().String(), v.Data, as64, 1e-5) // two orders of summation in float32
	}
}
