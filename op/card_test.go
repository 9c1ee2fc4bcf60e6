//go:build gpu

package op_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// cardModes are the ways in which a simulated card runs the cases: at once; later, with blocks in a random order and
// memory that ends at a fence; and under a check of every access for races, which takes too long for whole batches.
var cardModes = []struct {
	settings map[string]string
	batches  bool
}{
	{map[string]string{"lazy": "0", "guard": "0", "races": "0", "seed": "0"}, true},
	{map[string]string{"lazy": "1", "guard": "1", "races": "0", "seed": "7"}, true},
	{map[string]string{"lazy": "0", "guard": "0", "races": "1", "seed": "3"}, false},
}

// Every op keeps to its specification on a simulated card, in both precisions. The subtests are called after the
// cases.
func TestCard(t *testing.T) {
	l := simulated.Build(t, simulated.Options{})
	control := l.Control(t)
	var card cuda.Card
	open := func() {
		var err error
		if card, err = cuda.Open(cuda.Options{Driver: l.Driver, BLAS: l.BLAS}); err != nil {
			t.Fatal(err)
		}
		if err := card.Load(op.Modules()); err != nil {
			t.Fatal(err)
		}
	}
	open()
	t.Cleanup(func() { card.Close() })
	for _, c := range optest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			for _, mode := range cardModes {
				if c.Batch != nil && !mode.batches {
					continue
				}
				for name, value := range mode.settings {
					if err := control.Set(name, value); err != nil {
						t.Fatal(err)
					}
				}
				for _, half := range []bool{false, true} {
					err := optest.Check(optest.OnCard(card, half), c)
					if found := control.Findings(); len(found) > 0 {
						err = errors.Join(err, fmt.Errorf("the card has found: %s", strings.Join(found, "; ")))
					}
					if err != nil {
						t.Errorf("simulated card, half precision %v, settings %v: %v", half, mode.settings, err)
					}
					if errors.Is(err, cuda.ErrLost) { // a later case gets a card of its own
						card.Close()
						open()
					}
				}
			}
		})
	}
}

// openCard opens a simulated card and loads all kernels.
func openCard(t *testing.T) cuda.Card {
	t.Helper()
	l := simulated.Build(t, simulated.Options{})
	card, err := cuda.Open(cuda.Options{Driver: l.Driver, BLAS: l.BLAS})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { card.Close() })
	if err := card.Load(op.Modules()); err != nil {
		t.Fatal(err)
	}
	return card
}
