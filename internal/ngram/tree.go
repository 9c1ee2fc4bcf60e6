package ngram

import (
	"fmt"
	"iter"
	"math"
)

// gram is an n-gram on its way into a tree: the node of its history, its last word, and its weights in log10.
type gram struct {
	parent, word  uint32
	prob, backoff float32
}

// never is the log10 that stands for a probability of 0, as in ARPA files: sums with it stay numbers.
const never = -99

// newTree is a root alone, and the node behind it.
func newTree() *tree {
	return &tree{words: []uint32{0}, inner: []inner{{child: 1}, {child: 1}}}
}

// add puts the next order into the tree: count n-grams, sorted by their histories, which are there, and by their words.
// Of the first order these are all words. highest says that no further order follows.
func (t *tree) add(count int, grams iter.Seq[gram], highest bool) error {
	first := len(t.inner) - 1 // of this order
	if int64(first)+int64(count) >= math.MaxUint32 {
		return fmt.Errorf("more than %d n-grams: take a lower order, or leave rare n-grams out (prune)", math.MaxUint32)
	}
	end := uint32(first + count)
	parent := 0 // the first node without its child
	if n := len(t.levels); n > 0 {
		parent = first - t.levels[n-1]
	}
	t.words = append(make([]uint32, 0, first+count), t.words...)
	if highest {
		t.leaves = make([]leaf, 0, count)
	} else {
		grown := make([]inner, first+count+1)
		copy(grown, t.inner)
		t.inner = grown
	}
	for g := range grams {
		node := len(t.words)
		for ; parent <= int(g.parent); parent++ {
			t.inner[parent].child = uint32(node)
		}
		t.words = append(t.words, g.word)
		if highest {
			t.leaves = append(t.leaves, leaf{prob: g.prob})
		} else {
			t.inner[node] = inner{prob: g.prob, backoff: g.backoff, child: end}
		}
	}
	for ; parent < first; parent++ {
		t.inner[parent].child = end
	}
	t.inner[len(t.inner)-1].child = end
	t.levels = append(t.levels, count)
	return nil
}

// model makes the tree a model: it finds the links.
func (t *tree) model(v *Vocabulary) *Model {
	leaves := len(t.inner) - 1
	for p := 1; p < leaves; p++ {
		for node := t.inner[p].child; node < t.inner[p+1].child; node++ {
			_, link := t.step(t.inner[p].link, t.words[node])
			if int(node) < leaves {
				t.inner[node].link = link
			} else {
				t.leaves[int(node)-leaves].link = link
			}
		}
	}
	m := &Model{vocabulary: v, tree: *t}
	_, m.begin.node = t.step(0, uint32(Start))
	return m
}

// weights are the log10 probability and back-off weight of a node.
func (t *tree) weights(node uint32) (prob, backoff float32) {
	if i := int(node) - (len(t.inner) - 1); i >= 0 {
		return t.leaves[i].prob, 0
	}
	return t.inner[node].prob, t.inner[node].backoff
}

// all yields the n-grams of an order, as their words and their node, in the order of the nodes. The words are the same
// slice each time.
func (t *tree) all(order int) iter.Seq2[[]Word, uint32] {
	return func(yield func([]Word, uint32) bool) {
		words := make([]Word, 0, order)
		var walk func(node uint32) bool
		walk = func(node uint32) bool {
			if len(words) == order {
				return yield(words, node)
			}
			for c := t.inner[node].child; c < t.inner[node+1].child; c++ {
				words = append(words, Word(t.words[c]))
				if !walk(c) {
					return false
				}
				words = words[:len(words)-1]
			}
			return true
		}
		walk(0)
	}
}
