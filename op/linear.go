package op

import G "gorgonia.org/gorgonia"

// Linear is y = x·Wᵀ + b over the last dimension.
//
//	x [..., I], w [O, I], b [O] or nil -> y [..., O]
//	dx = dy·W    dW = dyᵀ·x    db = the column sums of dy
func (g *Graph) Linear(x, w, b *G.Node) *G.Node {
	if b == nil {
		return g.add(linear, x, w)
	}
	return g.add(linear, x, w, b)
}

func linear(in []Type) (*Op, error) {
	if len(in) < 2 || in[1].Shape.Dims() != 2 || last(in[0].Shape) != in[1].Shape[1] ||
		len(in) == 3 && (in[2].Shape.Dims() != 1 || in[2].Shape[0] != in[1].Shape[0]) {
		return nil, want("linear", "[..., I], [O, I], [O]", in)
	}
	out := in[0].Shape.Clone()
	out[len(out)-1] = in[1].Shape[0]
	n, i, o := rows(out), in[1].Shape[1], in[1].Shape[0]
	return &Op{
		Name: "linear", Out: out, Run: linearCPU(n, i, o), Ref: linearRef(n, i, o), FLOPs: 2 * float64(n*i*o),
		wrt: []bool{true, true, true}[:len(in)],
		grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
			b := behind(dy)
			grads := G.Nodes{b.add(linearGradInput, dy, in[1]), b.add(linearGradWeight, dy, in[0])}
			if len(in) == 3 {
				grads = append(grads, b.add(columnSum, dy))
			}
			return grads, b.err
		},
	}, nil
}

// linearGradInput is dx = dy·W: dy [..., O], w [O, I] -> [..., I].
func linearGradInput(in []Type) (*Op, error) {
	if last(in[0].Shape) != in[1].Shape[0] {
		return nil, want("linear.dx", "[..., O], [O, I]", in)
	}
	out := in[0].Shape.Clone()
	out[len(out)-1] = in[1].Shape[1]
	n, i, o := rows(out), in[1].Shape[1], in[1].Shape[0]
	return &Op{
		Name: "linear.dx", Out: out, FLOPs: 2 * float64(n*i*o), Accumulates: true,
		Run: linearGradInputCPU(n, i, o), Ref: linearGradInputRef(n, i, o),
	}, nil
}

// linearGradWeight is dW = dyᵀ·x: dy [..., O], x [..., I] -> [O, I].
func linearGradWeight(in []Type) (*Op, error) {
	n := rows(in[0].Shape)
	if n != rows(in[1].Shape) {
		return nil, want("linear.dw", "[..., O], [..., I] of equal rows", in)
	}
	i, o := last(in[1].Shape), last(in[0].Shape)
	return &Op{
		Name: "linear.dw", Out: []int{o, i}, FLOPs: 2 * float64(n*i*o), Accumulates: true,
		Run: linearGradWeightCPU(n, i, o), Ref: linearGradWeightRef(n, i, o),
	}, nil
}

// columnSum is db: dy [..., O] -> [O].
func columnSum(in []Type) (*Op, error) {
	n, o := rows(in[0].Shape), last(in[0].Shape)
	return &Op{
		Name: "linear.db", Out: []int{o}, FLOPs: float64(n * o), Accumulates: true,
		Run: columnSumCPU(n), Ref: columnSumRef(n),
	}, nil
}
