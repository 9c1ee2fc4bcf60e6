package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// Residual is z = x + alpha*drop(y), with drop as in [Graph.Dropout]. With d.Branch it is stochastic depth (Huang et
// al. 2016, "Deep networks with stochastic depth", section 3): for an utterance z is x with that probability, and else
// y is also divided by 1 less it, so that nothing has to be scaled where all branches are kept.
//
//	x, y [B, ...], seeds [B, 2] int or nil -> z like x
//	dx = dz (the same node)    dy = alpha*drop(dz), or dz itself where that is the same
func (g *Graph) Residual(x *G.Node, alpha float32, y, seeds *G.Node, d Drop) *G.Node {
	if !d.on(seeds) {
		return g.add(newResidual(alpha, Drop{}), x, y)
	}
	return g.add(newResidual(alpha, d), x, y, seeds)
}

// residualShape is what forward and backward need. Without dropout there are no seeds among the operands.
type residualShape struct {
	batch, elements int // elements of an utterance
	alpha           float32
	d               Drop
}

type (
	residual     struct{ residualShape }
	residualGrad struct{ residualShape }
)

// kept is what a branch that is not dropped as a whole is multiplied by.
func (s *residualShape) kept() float32 { return float32(float64(s.alpha) * keptScale(s.d.Branch)) }

func newResidual(alpha float32, d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if !same(in[0], in[1]) || in[0].Shape.Dims() < 1 || len(in) == 3 && !isSeeds(in[2], in[0]) {
			return nil, want("residual", "[B, ...], the same, [B, 2] int", in)
		}
		if err := d.checkBranch(); err != nil {
			return nil, err
		}
		s := residualShape{in[0].Shape[0], in[0].Elements() / in[0].Shape[0], alpha, d}
		return &Op{
			Name: "residual", Params: fmt.Sprint("alpha=", alpha, " ", d), Out: Type{Shape: in[0].Shape.Clone()},
			FLOPs: 2 * float64(in[0].Elements()), family: residual{s},
			wrt: []bool{true, true, false}[:len(in)],
			grad: func(g *Graph, in G.Nodes, _, dz *G.Node) G.Nodes {
				if len(in) == 2 && alpha == 1 {
					return G.Nodes{dz, dz}
				}
				dy := g.add(newResidualGrad(s), append(G.Nodes{dz}, in[2:]...)...)
				return G.Nodes{dz, dy, nil}[:len(in)]
			},
		}, nil
	}
}

// newResidualGrad is dy = alpha*drop(dz): dz [B, ...], seeds [B, 2] int or absent -> like dz.
func newResidualGrad(s residualShape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "residual.dy", Params: fmt.Sprint("alpha=", s.alpha, " ", s.d), Out: Type{Shape: in[0].Shape.Clone()},
			FLOPs: float64(in[0].Elements()), family: residualGrad{s},
		}, nil
	}
}
