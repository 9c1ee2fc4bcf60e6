//go:build gpu

package op_test

import (
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// Every op keeps to its specification on a simulated card, in both precisions.
func TestCard(t *testing.T) {
	l := simulated.Build(t, simulated.Options{})
	card, err := cuda.Open(cuda.Options{Driver: l.Driver, BLAS: l.BLAS})
	if err != nil {
		t.Fatal(err)
	}
	defer card.Close()
	if err := card.Load(op.Modules()); err != nil {
		t.Fatal(err)
	}
	for name, half := range map[string]bool{"float32": false, "half": true} {
		t.Run(name, func(t *testing.T) {
			for _, c := range optest.Cases() {
				optest.Run(t, optest.OnCard(card, half), c)
			}
		})
	}
}
