package op

import (
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
)

// benchmark times each kernel of an op and of its gradient.
func benchmark(b *testing.B, build func(g *Graph, in []*G.Node) *G.Node, in []Array) {
	t := &testing.T{} // newBench and run want one; what fails here has failed in the tests
	c := newBench(t, build, in, nil)
	for _, n := range c.g.AllNodes() {
		o, ok := n.Op().(*Op)
		if !ok || strings.HasPrefix(o.Name, "test.") || o.View != nil {
			continue
		}
		operands := c.run(t, Children(n)...)
		env := &Env{BLAS: NewBLAS(), Scratch: nans(o.Scratch)}
		out := Tensor{Data: make([]float32, Size(o.Out)), Shape: o.Out}
		b.Run(o.Name, func(b *testing.B) {
			for b.Loop() {
				o.Run(env, out, operands)
			}
			b.ReportMetric(o.FLOPs*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
