package op_test

import (
	"math"
	"testing"

	"konkanitrain/op"
)

// By hand: at the first update the corrected moments are g and g², and the step is the learning rate.
func TestAdamWFirstStep(t *testing.T) {
	s := op.AdamSettings{LR: 0.5, Decay: 0.25, Beta1: 0.75, Beta2: 0.5, GradScale: 2}.Step(1)
	if s != (op.AdamStep{LR: 0.5, Decay: 0.25, Beta1: 0.75, Beta2: 0.5, GradScale: 2, Correct1: 4, Correct2: 2}) {
		t.Fatalf("the step is %+v", s)
	}
	kernel, err := op.NewAdamW(2).Kernel(op.CPU)
	if err != nil {
		t.Fatal(err)
	}
	constants := make([]float32, 8)
	s.Put(constants)
	p, m, v := op.Tensor{Data: []float32{8, -8}}, op.Tensor{Data: make([]float32, 2)}, op.Tensor{Data: make([]float32, 2)}
	kernel.Run(&op.Env{}, p, []op.Tensor{p, m, v, {Data: []float32{4, -2}}, {Data: constants}})
	closeTo(t, "weights", p.Data, []float64{8*0.875 - 0.5, -8*0.875 + 0.5}, 0)
	closeTo(t, "first moments", m.Data, []float64{2, -1}, 0)
	closeTo(t, "second moments", v.Data, []float64{32, 8}, 0)
}

// The corrections are computed in float64 and rounded once: in float32 that of update 1000000 would be exact by chance
// alone.
func TestAdamCorrections(t *testing.T) {
	for _, update := range []int{1, 2, 1000, 1_000_000} {
		s := op.AdamSettings{Beta1: 0.9, Beta2: 0.98}.Step(update)
		if want := float32(1 / (1 - math.Pow(0.9, float64(update)))); s.Correct1 != want {
			t.Errorf("update %d: the first correction is %g, want %g", update, s.Correct1, want)
		}
		if want := float32(1 / (1 - math.Pow(0.98, float64(update)))); s.Correct2 != want {
			t.Errorf("update %d: the second correction is %g, want %g", update, s.Correct2, want)
		}
	}
}
