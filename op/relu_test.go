package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestReluAtZero(t *testing.T) {
	b := newRig(t, optest.BuildRelu, []op.Array{{Data: []float64{0, -1, 2}, Shape: []int{3}}}, nil)
	dx := run(t, b, b.Grads[0])[0].Data
	if dx[0] != 0 || dx[1] != 0 || dx[2] != float32(b.Flow.Data[2]) {
		t.Fatalf("gradient is %v for %v", dx, b.Flow.Data)
	}
}

func TestReluRefuses(t *testing.T) {
	refuses(t, "integers", func(g *op.Graph) { g.Relu(g.IntInput("x", 2, 3)) })
}
