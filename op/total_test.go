package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestTotalByHand(t *testing.T) {
	in := []op.Array{optest.Values(10, 20), optest.Values(1, 2), optest.Values(0.125)}
	r := newRig(t, optest.BuildTotal(0.3), in, nil, 2)
	if got := run(t, r, r.Out)[0].Data[0]; got != float32(0.125*(0.3*30+0.7*3)) {
		t.Errorf("the loss is %g", got)
	}
}

func TestTotalRefusesShapes(t *testing.T) {
	g := op.NewGraph()
	g.Total(g.Input("ctc", 3), g.Input("ce", 4), g.Input("scale", 1), 0.3)
	if g.Err() == nil {
		t.Fatal("losses of 3 and 4 utterances were accepted")
	}
}
