package engine

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/device"
	"konkanitrain/internal/testkit"
)

// averagedNet is a flatNet whose weights are averaged.
type averagedNet struct{ flatNet }

func (averagedNet) Averages() bool { return true }

// frozenOne are the several with one that is frozen.
func frozenOne() averagedNet {
	list := slices.Clone(several)
	list[3].Frozen = true
	return averagedNet{list}
}

// mustStep makes an update with gradients drawn from seed.
func mustStep(t testing.TB, c *Crew[int], number int, share float64) {
	t.Helper()
	for w := range c.workers {
		setGradients(c, w, uint64(10*number+w))
	}
	if _, err := c.Reduce(); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(AdamW{Number: number, LR: 0.1, GradScale: 1, Decay: 0.01, Share: share}); err != nil {
		t.Fatal(err)
	}
}

// Each update takes the weights into their averages with its share, for any number of workers; weights and moments are
// those of a crew without averages, to the bit.
func TestAveragesFollowTheWeights(t *testing.T) {
	net := frozenOne()
	for _, workers := range []int{1, 3} {
		c, without := flatCrew(t, net, workers), flatCrew(t, net.flatNet, workers)
		for number, share := range []float64{9. / 11, 0.25, 1e-3, 1} {
			before := map[string][]float32{}
			for _, p := range c.layout.Tensors {
				if !p.Frozen {
					before[p.Name] = slices.Clone(c.floats(Averages, p.Name))
				}
			}
			mustStep(t, c, number+1, share)
			mustStep(t, without, number+1, share)
			for name, average := range before {
				weights := c.floats(Weights, name)
				for i, got := range c.floats(Averages, name) {
					want := (1-share)*float64(average[i]) + share*float64(weights[i])
					// Three roundings, of a difference, a product and a sum of numbers below 8, and that of the share.
					if d := math.Abs(float64(got) - want); d > 8*4*0x1p-24 {
						t.Fatalf("%d workers, update %d: the average of %s[%d] is %v, want %v", workers, number+1, name, i, got, want)
					}
				}
				for _, of := range []Flat{Weights, FirstMoments, SecondMoments} {
					if !equalBits(c.floats(of, name), without.floats(of, name)) {
						t.Fatalf("%d workers, update %d: %s in buffer %d is another one than without averages", workers, number+1, name, of)
					}
				}
			}
			gaps(t, c, "averaged")
		}
	}
}

// Weights and averages change places to the bit and back, what is frozen stays, and in between there is no update.
func TestExchangeAverages(t *testing.T) {
	c := flatCrew(t, frozenOne(), 2)
	mustStep(t, c, 1, 0.5)
	weights, averages := slices.Clone(c.weights.Host()), slices.Clone(c.averages.Host())
	exchange := func() {
		t.Helper()
		if err := c.ExchangeAverages(); err != nil {
			t.Fatal(err)
		}
	}
	exchange()
	if n := c.layout.Learned; !bytes.Equal(c.weights.Host()[:n], averages) || !bytes.Equal(c.averages.Host(), weights[:n]) || !bytes.Equal(c.weights.Host()[n:], weights[n:]) {
		t.Error("weights and averages have not changed places")
	}
	setGradients(c, 0, 3)
	if _, err := c.Reduce(); err != nil {
		t.Fatal(err)
	}
	err := c.Update(AdamW{Number: 2, LR: 0.1, GradScale: 1, Share: 0.5})
	wants(t, "an update in between", err, "have changed places")
	exchange()
	if !bytes.Equal(c.weights.Host(), weights) || !bytes.Equal(c.averages.Host(), averages) {
		t.Error("after a second exchange weights or averages are others")
	}
	if err := c.Update(AdamW{Number: 2, LR: 0.1, GradScale: 1, Share: 0.5}); err != nil {
		t.Error(err)
	}
}

// An exchange that ends in its middle leaves a replica that is good for nothing.
func TestExchangeThatBreaks(t *testing.T) {
	c := flatCrew(t, averagedNet{several}, 2)
	c.tasks.exchange = func(*worker[int]) error { panic("a fault") }
	wants(t, "broken", c.ExchangeAverages(), "a fault")
	wants(t, "afterwards", c.ExchangeAverages(), "in its middle")
}

// Averages are there for training alone, and where they are wanted; a null replica counts the same bytes.
func TestAveragesAreThereWhereTheyAreWanted(t *testing.T) {
	net := frozenOne()
	learned := int64(0)
	for _, c := range []struct {
		net   Network[int]
		train bool
		why   string
	}{{net, true, ""}, {net, false, "not made for training"}, {net.flatNet, true, "keeps no averages"}} {
		host, null := device.NewHost(), device.NewNull(0)
		crew, err := NewCrew(host, NewLibrary(c.net), 1, c.train)
		if err != nil {
			t.Fatal(err)
		}
		counted, err := NewNull(null, NewLibrary(c.net), 1, c.train)
		if err != nil {
			t.Fatal(err)
		}
		card, err := NewNullCard(device.NewNull(0), NewLibrary(c.net), false, c.train)
		if err != nil {
			t.Fatal(err)
		}
		if learned == 0 {
			learned = crew.layout.Learned
		}
		want := map[bool]int64{true: learned}[c.why == ""]
		if a, b, on := crew.Usage().Averages, counted.Usage().Averages, card.Usage().Averages; a != want || b != want || on != want {
			t.Errorf("averages take %d bytes, %d are counted, and %d on a card, want %d", a, b, on, want)
		}
		if a, b := host.Usage().Allocated, null.Usage().Allocated; a != b {
			t.Errorf("%d bytes are allocated, %d are counted", a, b)
		}
		for _, r := range []Replica[int]{crew, counted} {
			err := r.ExchangeAverages()
			_, _, failed := crew.part(Averages, "one")
			if c.why == "" {
				if err != nil || failed != nil {
					t.Error(err, failed)
				}
				continue
			}
			wants(t, fmt.Sprintf("an exchange of %T", r), err, c.why)
			wants(t, "their part", failed, c.why)
		}
		if c.why == "" {
			_, _, err := crew.part(Averages, "exactly.one.piece")
			wants(t, "a frozen one", err, "it has no gradient, no moments and no average")
		}
		crew.Close()
		counted.Close()
		card.Close()
	}
}

// Updates with averages, and exchanges, allocate nothing.
func TestAveragesAllocateNothing(t *testing.T) {
	c := flatCrew(t, averagedNet{several}, 2)
	grads := testkit.Normal[float32](1, int(c.layout.Learned/4))
	step := func() {
		for _, w := range c.workers {
			copy(floats(c.grads[w.index].Host()), grads)
			w.runs = 1
		}
		if _, err := c.Reduce(); err != nil {
			t.Fatal(err)
		}
		if err := c.Update(AdamW{Number: 1, LR: 0.1, GradScale: 1, Share: 0.5}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := c.ExchangeAverages(); err != nil {
				t.Fatal(err)
			}
		}
	}
	step()
	if n := testing.AllocsPerRun(5, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
