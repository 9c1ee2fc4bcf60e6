package scores

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// Worst keeps the worst of the utterances that it is shown: those with the highest error rate of characters, of equal
// rates those with more errors of characters, then of words, then with the higher loss, then the earlier. Utterances
// without an error are none of them.
type Worst struct {
	most int
	seen int
	kept kept
}

// NewWorst keeps at most so many; 0 keeps none.
func NewWorst(most int) *Worst { return &Worst{most: most} }

// Add shows it the next utterance.
func (w *Worst) Add(u Utterance) {
	w.seen++
	if w.most < 1 || u.Chars.Errors()+u.Words.Errors() == 0 {
		return
	}
	x := numbered{u, w.seen}
	switch {
	case len(w.kept) < w.most:
		heap.Push(&w.kept, x)
	case x.worse(w.kept[0]):
		w.kept[0] = x
		heap.Fix(&w.kept, 0)
	}
}

// List is what it has kept, the worst first. It is never nil.
func (w *Worst) List() []Utterance {
	sorted := slices.Clone(w.kept)
	slices.SortFunc(sorted, func(a, b numbered) int {
		if a.worse(b) {
			return -1
		}
		return 1
	})
	list := make([]Utterance, len(sorted))
	for i, x := range sorted {
		list[i] = x.Utterance
	}
	return list
}

// numbered is an utterance and its place among those that were shown, from 1.
type numbered struct {
	Utterance
	place int
}

// worse says which of two comes first in a list; of two different ones one does.
func (a numbered) worse(b numbered) bool {
	return cmp.Or(
		cmp.Compare(b.Chars.Rate(), a.Chars.Rate()), cmp.Compare(b.Chars.Errors(), a.Chars.Errors()),
		cmp.Compare(b.Words.Errors(), a.Words.Errors()), cmp.Compare(b.loss(), a.loss()), cmp.Compare(a.place, b.place),
	) < 0
}

// loss is infinite where it is no finite number.
func (a numbered) loss() float64 {
	if a.Loss == nil {
		return math.Inf(1)
	}
	return *a.Loss
}

// kept is a heap with the least bad utterance in front.
type kept []numbered

func (k kept) Len() int           { return len(k) }
func (k kept) Less(i, j int) bool { return k[j].worse(k[i]) }
func (k kept) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *kept) Push(x any)        { *k = append(*k, x.(numbered)) }
func (k *kept) Pop() any {
	last := (*k)[len(*k)-1]
	*k = (*k)[:len(*k)-1]
	return last
}
