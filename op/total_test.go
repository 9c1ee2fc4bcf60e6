package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestTotalByHand(t *testing.T) {
	in := []op.Array{optest.Values(10, 20), optest.Values(1, 2), optest.Values(0.125)}
	r := newRig(t, optest.BuildTotal(0.3, 0.7), in, nil, 2)
	if got := run(t, r, r.Out)[0].Data[0]; got != float32(0.125*(0.3*30+0.7*3)) {
		t.Errorf("the loss is %g", got)
	}
	in = []op.Array{optest.Values(10, 20), optest.Values(1, 2), optest.Values(100, 200), optest.Values(0.125)}
	r = newRig(t, optest.BuildTotal(0.25, 0.5, 0.75), in, nil, 3)
	if got := run(t, r, r.Out)[0].Data[0]; got != float32(0.125*(0.25*30+0.5*3+0.75*300)) {
		t.Errorf("the loss of three is %g", got)
	}
}

func TestTotalRefuses(t *testing.T) {
	share := func(g *op.Graph, name string, n int) op.Share { return op.Share{Loss: g.Input(name, n), Weight: 0.3} }
	refuses(t, "losses of 3 and 4 utterances", func(g *op.Graph) {
		g.Total(g.Input("scale", 1), share(g, "ctc", 3), share(g, "ce", 4))
	})
	refuses(t, "no loss", func(g *op.Graph) { g.Total(g.Input("scale", 1)) })
	refuses(t, "four losses", func(g *op.Graph) {
		g.Total(g.Input("scale", 1), share(g, "a", 3), share(g, "b", 3), share(g, "c", 3), share(g, "d", 3))
	})
}
