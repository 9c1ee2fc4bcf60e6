package data

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/philox"
)

// A sorted epoch is the shuffled list, put in order of length by a sort that leaves equals as they are; those behind
// the sorted ones are what they are without any.
func TestSortedEpochs(t *testing.T) {
	const sorted = 2
	lengths := lengthsFor(700) // of 400 lengths, so that there are equals
	for _, window := range []int{1, 9, 1000} {
		o, err := newShared(lengths, nil, window, sorted, 5)
		if err != nil {
			t.Fatal(err)
		}
		without, _ := NewOrder(lengths, window, 5)
		for epoch := range sorted + 2 {
			var all []int32
			for k := range o.Windows() {
				all = append(all, o.Window(epoch, k)...)
			}
			var want []int32
			if epoch < sorted {
				for _, i := range philox.NewStream(philox.Key(5, uint64(epoch)), siteOrder).Perm(len(lengths)) {
					want = append(want, int32(i))
				}
				slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(lengths[a], lengths[b]) })
			} else {
				want = without.build(epoch)
			}
			if !slices.Equal(all, want) {
				t.Errorf("windows of %d, epoch %d: %v, want %v", window, epoch, all, want)
			}
		}
		if slices.Equal(o.build(0), o.build(1)) {
			t.Errorf("windows of %d: two sorted epochs have one order among equal lengths", window)
		}
	}
}

// Orders are part of what a seed means: a checkpoint in a sorted epoch goes on with it.
func TestSortedOrderNeverChanges(t *testing.T) {
	lengths := lengthsFor(30)
	for i := range lengths {
		lengths[i] -= lengths[i] % 100 // five lengths
	}
	o, err := newShared(lengths, nil, 4, 1, 11)
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{14, 1, 27, 28, 9, 18, 0, 20, 5, 13, 19, 22, 11, 12, 3, 16, 15, 6, 7, 21, 8, 10, 25, 23, 26, 17, 29, 2, 24, 4}
	if got := o.build(0); !slices.Equal(got, want) {
		t.Errorf("order %v, was %v", got, want)
	}
}

// Weights hold in a sorted epoch as in any other, lengths are known before it, and from its middle on it is what it is
// from its start.
func TestSortedEpochsOfWeights(t *testing.T) {
	list := three(t)
	list[0].Weight, list[1].Weight, list[2].Weight = 2, 0.5, 1.4
	s := mustLoadAll(t, list)
	o := withSpeeds(options8k(4))
	o.Sorted = 2
	l := newLoader(t, s, o)
	for epoch := range 2 {
		counts, keys, last := [3]int{}, map[uint64]bool{}, 0
		for k := range l.Windows() {
			for _, u := range l.Window(epoch, k) {
				if u.Frames < last {
					t.Errorf("epoch %d: %s has %d frames behind one of %d", epoch, u.ID, u.Frames, last)
				}
				counts[len(u.Text)-1]++
				last, keys[u.Key] = u.Frames, true
			}
		}
		if counts != [3]int{8, 3, 7} || len(keys) != 18 {
			t.Errorf("epoch %d has %v, with %d keys", epoch, counts, len(keys))
		}
	}
	checkLengths(t, l, 3)
	all, rest := prints(t, l, 0, 0, 3*l.Windows()), prints(t, newLoader(t, s, o), 1, 2, 2*l.Windows()-2)
	if !slices.Equal(all[len(all)-len(rest):], rest) {
		t.Errorf("%v is not the end of %v", rest, all)
	}
	for _, change := range []func(*LoaderOptions){
		func(o *LoaderOptions) { o.Sorted = -1 },
		func(o *LoaderOptions) { o.Augment, o.Evaluate = nil, true },
	} {
		bad := o
		change(&bad)
		if _, err := NewLoader(s, bad); err == nil || !strings.Contains(err.Error(), "sorted epochs") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A sorted epoch takes its lists and nothing for each utterance: two permutations, the keys, and the order.
func TestSortedEpochAllocatesLittle(t *testing.T) {
	o, _ := newShared(lengthsFor(10_000), nil, 32, 1<<30, 1)
	epoch := 0
	if n := testing.AllocsPerRun(5, func() { o.Window(epoch, 0); epoch++ }); n > 10 {
		t.Errorf("%v allocations for the order of 10000 utterances", n)
	}
}

// One order of a million utterances, shuffled and sorted.
func BenchmarkOrder(b *testing.B) {
	lengths := lengthsFor(1_000_000)
	for name, sorted := range map[string]int{"shuffled": 0, "sorted": 1} {
		b.Run(name, func(b *testing.B) {
			o, _ := newShared(lengths, nil, 32, sorted, 1)
			b.ReportAllocs()
			for b.Loop() {
				o.build(0)
			}
		})
	}
}
