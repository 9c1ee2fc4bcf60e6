package engine

import (
	"fmt"
	"math"
	"testing"

	"gorgonia.org/tensor"

	"konkanitrain/device"
)

// scaled are parameters of five groups and two that are frozen, in no order.
var scaled = flatNet{
	{Name: "frozen.matrix", Shape: tensor.Shape{3, pieceElements}, Decay: true, Frozen: true},
	{Name: "slow.matrix", Shape: tensor.Shape{3, 2*pieceElements/3 + 5}, Decay: true, Scale: 0.125},
	{Name: "bias", Shape: tensor.Shape{7}},
	{Name: "fast.bias", Shape: tensor.Shape{pieceElements}, Scale: 3},
	{Name: "slow.bias", Shape: tensor.Shape{1}, Scale: 0.125},
	{Name: "frozen.bias", Shape: tensor.Shape{5}, Frozen: true, Scale: 3},
	{Name: "matrix", Shape: tensor.Shape{pieceElements + 1}, Decay: true, Scale: 1},
	{Name: "own.matrix", Shape: tensor.Shape{33}, Decay: true, OwnDecay: OwnDecay{true, 0.5}},
	{Name: "own.bias", Shape: tensor.Shape{3}, OwnDecay: OwnDecay{true, 0.5}, Scale: 1},
	{Name: "kept.matrix", Shape: tensor.Shape{17}, Decay: true, OwnDecay: OwnDecay{true, 0}},
}

// What is learned lies in front, group by group, and what is frozen behind it.
func TestLayoutGroups(t *testing.T) {
	l, err := NewLayout(scaled)
	if err != nil {
		t.Fatal(err)
	}
	var order string
	end, groups := int64(0), make([]int64, 5)
	for _, p := range l.Tensors {
		order += fmt.Sprintf("%s %d, ", p.Name, p.Group)
		if found, ok := l.Find(p.Name); !ok || found.Name != p.Name || p.Offset != end {
			t.Errorf("%s lies at %d, want %d; it is found: %v", p.Name, p.Offset, end, ok)
		}
		if end += aligned(p.Bytes()); p.Group >= 0 {
			groups[p.Group] += aligned(p.Bytes())
		}
	}
	if want := "slow.matrix 0, slow.bias 0, bias 1, matrix 1, fast.bias 2, own.matrix 3, own.bias 3, kept.matrix 4, frozen.matrix -1, frozen.bias -1, "; order != want {
		t.Errorf("the order is %s want %s", order, want)
	}
	sum := int64(0)
	for i, want := range []Group{{0.125, OwnDecay{}, groups[0]}, {1, OwnDecay{}, groups[1]}, {3, OwnDecay{}, groups[2]}, {1, OwnDecay{true, 0.5}, groups[3]}, {1, OwnDecay{true, 0}, groups[4]}} {
		if g := l.Groups[i]; g != want {
			t.Errorf("group %d is %+v, want %+v", i, g, want)
		}
		sum += groups[i]
	}
	if len(l.Groups) != 5 || l.Learned != sum || l.Bytes != end {
		t.Errorf("%d groups, %d bytes learned of %d, want 5, %d, %d", len(l.Groups), l.Learned, l.Bytes, sum, end)
	}
}

// Memory for gradients and moments is that of what learns, of every kind of replica.
func TestFrozenParametersTakeWeightsOnly(t *testing.T) {
	l, err := NewLayout(scaled)
	if err != nil {
		t.Fatal(err)
	}
	card, err := NewNullCard[int](device.NewNull(0), NewLibrary(scaled), false, true)
	if err != nil {
		t.Fatal(err)
	}
	null, err := NewNull[int](device.NewNull(0), NewLibrary(scaled), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Replica[int]{flatCrew(t, scaled, 1), null, card} {
		if u := r.Usage(); u.Weights != l.Bytes || u.Gradients != l.Learned || u.Moments != 2*l.Learned {
			t.Errorf("%T holds %+v for %d bytes of which %d learn", r, u, l.Bytes, l.Learned)
		}
	}
	all := flatNet{scaled[0], scaled[5]}
	_, err = NewNull[int](device.NewNull(0), NewLibrary(all), 1, true)
	wants(t, "a network without anything to learn", err, "all parameters are frozen")
	if _, err := NewNull[int](device.NewNull(0), NewLibrary(all), 1, false); err != nil {
		t.Errorf("a network that is only used: %v", err)
	}
}

// The mean is that of what learns. What is frozen is the same in all.
func TestMeanLeavesFrozenParameters(t *testing.T) {
	c := flatCrew(t, scaled, 2)
	before := map[string][]float64{}
	for _, p := range scaled {
		before[p.Name] = doubles(c.floats(Weights, p.Name))
	}
	_, err := c.Mean(1, func(int) error {
		for _, p := range scaled {
			if !p.Frozen {
				clear(c.floats(FirstMoments, p.Name))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range scaled {
		factor := 0.5
		if p.Frozen {
			factor = 1
		}
		for i, w := range c.floats(Weights, p.Name) {
			if float64(w) != factor*before[p.Name][i] {
				t.Fatalf("%s[%d] is %g, want %g of %g", p.Name, i, w, factor, before[p.Name][i])
			}
		}
	}
}

// A frozen weight that is not a number is found too: files may hold one.
func TestFiniteLooksAtFrozenParameters(t *testing.T) {
	c := flatCrew(t, scaled, 2)
	c.floats(Weights, "frozen.bias")[3] = float32(math.Inf(1))
	if odd, err := c.Finite(); err != nil || odd == nil || odd.Name != "frozen.bias" || odd.Index != 3 {
		t.Errorf("found %v, %v", odd, err)
	}
}
