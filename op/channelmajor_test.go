package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestChannelMajorOrder(t *testing.T) {
	in := op.Array{Data: []float64{0, 1, 2, 3, 4, 5}, Shape: []int{1, 1, 3, 2}} // x[f][c] = 2f+c
	b := newRig(t, optest.BuildChannelMajor, []op.Array{in}, nil)
	closeTo(t, "y[c*F+f]", run(t, b, b.Out)[0].Data, []float64{0, 2, 4, 1, 3, 5}, 0)
}

func TestChannelMajorRefuses(t *testing.T) {
	refuses(t, "three dimensions", func(g *op.Graph) { g.ChannelMajor(g.Input("x", 2, 3, 4)) })
}
