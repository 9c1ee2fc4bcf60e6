package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// Residual is z = x + alpha*drop(y), with drop as in [Graph.Dropout].
//
//	x, y [B, ...], keys [B, 2] int or nil -> z like x
//	dx = dz (the same node)    dy = alpha*drop(dz), or dz itself where that is the same
func (g *Graph) Residual(x *G.Node, alpha float32, y, keys *G.Node, d Drop) *G.Node {
	if !d.on(keys) {
		return g.add(residual(alpha, Drop{}), x, y)
	}
	return g.add(residual(alpha, d), x, y, keys)
}

func residual(alpha float32, d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if !same(in[0], in[1]) || in[0].Shape.Dims() < 1 || len(in) == 3 && !isKeys(in[2], in[0]) {
			return nil, want("residual", "[B, ...], the same, [B, 2] int", in)
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		batch := in[0].Shape[0]
		return &Op{
			Name: "residual", Params: fmt.Sprint("alpha=", alpha, " ", d), Out: in[0].Shape.Clone(), InPlace: []int{1, 0},
			Run: residualCPU(batch, alpha, d), Ref: residualRef(batch, alpha, d), FLOPs: 2 * float64(Size(in[0].Shape)),
			wrt: []bool{true, true, false}[:len(in)],
			grad: func(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
				if len(in) == 2 && alpha == 1 {
					return G.Nodes{dz, dz}, nil
				}
				dy, err := build(residualGrad(alpha, d), append(G.Nodes{dz}, in[2:]...)...)
				return G.Nodes{dz, dy, nil}[:len(in)], err
			},
		}, nil
	}
}

// residualGrad is dy = alpha*drop(dz): dz [B, ...], keys [B, 2] int or absent -> like dz.
func residualGrad(alpha float32, d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		batch := in[0].Shape[0]
		return &Op{
			Name: "residual.dy", Params: fmt.Sprint("alpha=", alpha, " ", d), Out: in[0].Shape.Clone(), InPlace: []int{0},
			Run: residualGradCPU(batch, alpha, d), Ref: residualGradRef(batch, alpha, d), FLOPs: float64(Size(in[0].Shape)),
		}, nil
	}
}
