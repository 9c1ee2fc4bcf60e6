package optest

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// stepCases are about the ops of a decoder that goes on by one token. They have no gradient, and no utterance's rows
// stand beside each other but as prefixes, each of which is as alone: absent ones are among them.
func stepCases() (cases []Case) {
	r := Rand(47)
	const why = "one product and one sum, each rounded"
	for _, c := range []struct{ b, r, v, d, p int }{{1, 1, 2, 2, 1}, {2, 3, 7, 6, 5}, {1, 4, 9, 200, 40}} {
		var tokens, at []int32
		for i := range c.b * c.r {
			tokens, at = append(tokens, int32(i*3%c.v)), append(at, int32(i*2%(c.p+1))-1)
		}
		at[0] = int32(c.p) - 1
		cases = append(cases, Case{
			Name: fmt.Sprintf("embed.at/%d of %d", c.b*c.r, c.d), Make: inGraph(func(g *op.Graph) *G.Node {
				return g.EmbedAt(g.IntInput("tokens", c.b, c.r), g.IntInput("at", c.b, c.r), g.Input("w", c.v, c.d), g.Input("positions", c.p, c.d))
			}), Tol: 5e-7, Why: why,
			In: []op.Array{Ints([]int{c.b, c.r}, tokens...), Ints([]int{c.b, c.r}, at...), Floats(r, c.v, c.d), Floats(r, c.p, c.d)},
		})
	}
	for _, c := range []struct{ b, r, kept, d, heads int }{{1, 1, 1, 2, 1}, {2, 3, 5, 12, 2}, {1, 4, 70, 40, 4}, {1, 2, 9, 600, 2}, {1, 2, 3, 10, 2}} {
		var at []int32
		for i := range c.b * c.r {
			at = append(at, int32(i*3%(c.kept+2))-1)
		}
		at[0] = int32(c.kept)
		row, kept := []int{c.b, c.r, c.d}, []int{c.b, c.r, c.kept, c.d}
		keys, values := Floats(r, kept...), Floats(r, kept...)
		cases = append(cases, Case{
			Name: fmt.Sprintf("attention.step/%d prefixes, %d kept, %d of %d", c.b*c.r, c.kept, c.heads, c.d), Make: inGraph(func(g *op.Graph) *G.Node {
				return g.StepAttention(g.Input("q", row...), g.Input("k", row...), g.Input("v", row...), g.Input("keys", kept...), g.Input("values", kept...),
					g.IntInput("at", c.b, c.r), c.heads)
			}),
			Tol: 2e-6, Why: "a softmax of up to 71 scores and sums of as many products in float32",
			In: []op.Array{Floats(r, row...), Floats(r, row...), Floats(r, row...), keys, values, Ints([]int{c.b, c.r}, at...)},
		})
	}
	return cases
}

// inGraph makes an op that a graph has.
func inGraph(build func(g *op.Graph) *G.Node) func() *op.Op {
	o := build(op.NewGraph()).Op().(*op.Op)
	return func() *op.Op { return o }
}
