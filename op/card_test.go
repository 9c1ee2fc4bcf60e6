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

// simulatedCard is a simulated card with the kernels of all ops.
type simulatedCard struct {
	cuda.Card
	libraries simulated.Libraries
	control   *simulated.Control // nil for a card that the environment gives: see simulated.Variable
}

// openCard opens one.
func openCard(t *testing.T) *simulatedCard {
	t.Helper()
	l := simulated.Build(t, simulated.Options{})
	s := &simulatedCard{libraries: l}
	if !l.Given {
		s.control = l.Control(t)
	}
	s.open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *simulatedCard) open(t *testing.T) {
	t.Helper()
	var err error
	if s.Card, err = cuda.Open(cuda.Options{Driver: s.libraries.Driver, BLAS: s.libraries.BLAS}); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(op.Modules()); err != nil {
		t.Fatal(err)
	}
}

// inEachMode runs check in each of cardModes that is for batches, if it has some. What the card finds is an error too.
func (s *simulatedCard) inEachMode(t *testing.T, batches bool, check func() error) {
	t.Helper()
	if s.control == nil {
		if err := check(); err != nil {
			t.Errorf("the card that %s gives: %v", simulated.Variable, err)
		}
		return
	}
	for _, mode := range cardModes {
		if batches && !mode.batches {
			continue
		}
		for name, value := range mode.settings {
			if err := s.control.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		err := check()
		if found := s.control.Findings(); len(found) > 0 {
			err = errors.Join(err, fmt.Errorf("the card has found: %s", strings.Join(found, "; ")))
		}
		if err != nil {
			t.Errorf("simulated card, settings %v: %v", mode.settings, err)
		}
		if errors.Is(err, cuda.ErrLost) { // what comes later gets a card of its own
			s.Close()
			s.open(t)
		}
	}
}

// Every op keeps to its specification on a simulated card, in both precisions. The subtests are called after the
// cases.
func TestCard(t *testing.T) {
	card := openCard(t)
	for _, c := range optest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			for _, half := range []bool{false, true} {
				card.inEachMode(t, c.Batch != nil, func() error {
					if err := optest.Check(optest.OnCard(card, half), c); err != nil {
						return fmt.Errorf("half precision %v: %w", half, err)
					}
					return nil
				})
			}
		})
	}
}
