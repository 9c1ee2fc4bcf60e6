package data

import (
	"slices"
	"testing"

	"konkanitrain/internal/philox"
)

func lengthsFor(n int) []int32 {
	draw := philox.NewStream(7, 0)
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(20 + draw.IntN(400))
	}
	return out
}

func TestOrderWindows(t *testing.T) {
	for _, c := range []struct {
		n, window int
		sizes     []int
	}{
		{23, 6, []int{6, 6, 6, 5}},
		{24, 6, []int{6, 6, 6, 6}},
		{3, 8, []int{3}},
		{1, 1, []int{1}},
		{5, 2, []int{2, 2, 1}},
	} {
		o, err := NewOrder(lengthsFor(c.n), c.window, 1)
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range 3 {
			var sizes []int
			var all []int32
			for k := range o.Windows() {
				w := o.Window(epoch, k)
				sizes = append(sizes, len(w))
				all = append(all, w...)
			}
			if !slices.Equal(sizes, c.sizes) {
				t.Errorf("%d utterances in windows of %d: %v, want %v", c.n, c.window, sizes, c.sizes)
			}
			slices.Sort(all)
			for i, u := range all {
				if int(u) != i {
					t.Fatalf("epoch %d of %d utterances is no permutation: %v", epoch, c.n, all)
				}
			}
		}
		if o.Window(0, o.Windows()) != nil || o.Window(-1, 0) != nil || o.Window(0, -1) != nil {
			t.Error("a window that doesn't exist has utterances")
		}
	}
	if _, err := NewOrder(nil, 4, 1); err == nil {
		t.Error("an order of nothing")
	}
	if _, err := NewOrder([]int32{1}, 0, 1); err == nil {
		t.Error("windows of 0 utterances")
	}
}

// 23 utterances in windows of 6 are 4 updates an epoch: 5 updates leave 1 epoch and 6 utterances behind, 10
// leave 2 epochs and 12, 58 in all. The place needs no replay: a fresh Order asked for that window alone says
// what one that went through all of them says.
func TestOrderPlace(t *testing.T) {
	through, _ := NewOrder(lengthsFor(23), 6, 9)
	used := 0
	for done := range 11 {
		epoch, k := done/through.Windows(), done%through.Windows()
		w := through.Window(epoch, k)
		fresh, _ := NewOrder(lengthsFor(23), 6, 9)
		if !slices.Equal(fresh.Window(epoch, k), w) {
			t.Errorf("window after %d updates: %v, played through: %v", done, fresh.Window(epoch, k), w)
		}
		switch done {
		case 5:
			if epoch != 1 || k != 1 || used != 23+6 {
				t.Errorf("after 5 updates: epoch %d, window %d, %d used", epoch, k, used)
			}
		case 10:
			if epoch != 2 || k != 2 || used != 58 {
				t.Errorf("after 10 updates: epoch %d, window %d, %d used", epoch, k, used)
			}
		}
		used += len(w)
	}
}

func TestOrderShuffles(t *testing.T) {
	lengths := lengthsFor(1000)
	o, _ := NewOrder(lengths, 10, 3)
	other, _ := NewOrder(lengths, 10, 4)
	if slices.Equal(o.build(0), o.build(1)) || slices.Equal(o.build(0), other.build(0)) {
		t.Error("two epochs or two seeds have one order")
	}
	if !slices.Equal(o.build(5), o.build(5)) {
		t.Error("one epoch has two orders")
	}
	// Alike lengths stand together: with 8 windows sorted together, a window spans on average an eighth of
	// the range, which is 400; a third is far outside chance over 100 windows.
	spread := 0
	for k := range o.Windows() {
		w := o.Window(0, k)
		spread += int(lengths[w[len(w)-1]] - lengths[w[0]])
		if !slices.IsSortedFunc(w, func(a, b int32) int { return int(lengths[a] - lengths[b]) }) {
			t.Fatalf("window %d isn't sorted by length", k)
		}
	}
	if mean := spread / o.Windows(); mean > 400/3 {
		t.Errorf("utterances of a window differ by %d frames on average", mean)
	}
	// Every utterance gets into the partial window now and then, the longest no more often than others:
	// 5 of 25 places over 2000 epochs are 400 +- 18 (one deviation); five deviations allowed.
	o, _ = NewOrder(lengthsFor(25), 10, 3)
	seen := make([]int, 25)
	for epoch := range 2000 {
		for _, u := range o.Window(epoch, 2) {
			seen[u]++
		}
	}
	for u, n := range seen {
		if n < 310 || n > 490 {
			t.Errorf("utterance %d was in the partial window %d times of 2000, want about 400", u, n)
		}
	}
}

// Reading ahead asks for two epochs in turn; that builds each table once.
func TestOrderKeepsTwoEpochs(t *testing.T) {
	o, _ := NewOrder(lengthsFor(100), 10, 3)
	a, b := &o.Window(4, 0)[0], &o.Window(5, 0)[0]
	if a != &o.Window(4, 0)[0] || b != &o.Window(5, 0)[0] {
		t.Error("a table was built again")
	}
}
