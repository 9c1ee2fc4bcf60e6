package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func gluOf(factor int) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node { return g.GLU(in[0], in[1], factor) }
}

func TestGLU(t *testing.T) {
	r := rng(1)
	for _, in := range [][]Array{
		{floats(r, 1, 1, 2), ints([]int{1}, 1)},
		{floats(r, 2, 5, 60), ints([]int{2}, 17, 9)},       // 5 and 3 frames at factor 4
		{floats(r, 3, 4, 26), ints([]int{3}, 0, 1000, 13)}, // none, more than there are, 4
	} {
		// An exponential, a division and a few products in float32.
		checkOp(t, 5e-7, gluOf(4), in)
		checkKernels(t, gluOf(4), in)
	}
}

func TestGLUGolden(t *testing.T) {
	p := openPieces(t)
	one := func(a Array) Array { return Array{Data: a.Data, Shape: append([]int{1}, a.Shape...)} }
	x := one(p.floats("glu.0.x", false)) // [R, 2d] as one utterance of R frames
	p.check("glu.0", 1e-5, false, func(g *Graph, in []*G.Node) *G.Node {
		y := g.GLU(in[0], in[1], 1)
		return g.add(unpackRows, y)
	}, []Array{x, ints([]int{1}, int32(x.Shape[1]))}, []string{"x", ""}, nil, nil)
}

// unpackRows takes the batch dimension of 1 away, for a test.
func unpackRows(in []Type) (*Op, error) {
	from, to := in[0].Shape.Clone(), in[0].Shape[1:].Clone()
	return &Op{
		Name: "test.rows", Out: to, wrt: []bool{true},
		Run: func(_ *Env, out Tensor, in []Tensor) { copy(out.Data, in[0].Data) },
		Ref: func(out Array, in []Array) { copy(out.Data, in[0].Data) },
		grad: func(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
			dx, err := build(func([]Type) (*Op, error) {
				return &Op{
					Name: "test.rows.grad", Out: from,
					Run: func(_ *Env, out Tensor, in []Tensor) { copy(out.Data, in[0].Data) },
					Ref: func(out Array, in []Array) { copy(out.Data, in[0].Data) },
				}, nil
			}, dy)
			return G.Nodes{dx}, err
		},
	}, nil
}

func TestGLUInvariance(t *testing.T) {
	lengths := []int{1, 5, 40}
	ops := []operand{sequence(rng(2), lengths, 24), fixed(ints([]int{1}, 3), ints([]int{1}, 20), ints([]int{1}, 157))}
	checkInvariance(t, 0, gluOf(4), ops, func(u int) int { return lengths[u] }, 7)
}

func TestGLUIgnoresPadding(t *testing.T) {
	in := []Array{floats(rng(3), 3, 9, 10), ints([]int{3}, 1, 8, 18)}
	checkPadding(t, gluOf(2), in, []int{1, 4, 9})
}

func TestGLURefuses(t *testing.T) {
	refuses(t, "an odd width", func(g *Graph) { g.GLU(g.Input("x", 2, 3, 5), g.IntInput("n", 2), 4) })
	refuses(t, "lengths of another batch", func(g *Graph) { g.GLU(g.Input("x", 2, 3, 4), g.IntInput("n", 3), 4) })
	refuses(t, "a factor of 3", func(g *Graph) { g.GLU(g.Input("x", 2, 3, 4), g.IntInput("n", 2), 3) })
}
