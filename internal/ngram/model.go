package ngram

import "math"

// Model is a language model. It never changes, and may be used by several goroutines at once.
type Model struct {
	vocabulary *Vocabulary
	tree
	begin   State
	spelled bool // its file says that it is one of characters
}

// tree is the n-grams of a model: see the package. Node 0 is the root, node 1+w the word w.
type tree struct {
	words  []uint32 // the last word of each node's n-gram
	inner  []inner  // the nodes of all orders but the highest, and one behind them for its child
	leaves []leaf   // those of the highest
	levels []int    // the number of n-grams of each order, from 1 on
}

// inner is a node that may have children: those from child to the child of the node behind it.
type inner struct {
	prob, backoff float32 // log10
	link, child   uint32
}

// leaf is an n-gram of the highest order.
type leaf struct {
	prob float32 // log10
	link uint32
}

// State is the end of what was said, as far as the model looks back. States of the same model can be compared. The zero
// State looks back on nothing.
type State struct{ node uint32 }

// Number is the state as a number, for whoever keeps states of several kinds.
func (s State) Number() uint64 { return uint64(s.node) }

// StateOf is the state of a number.
func StateOf(number uint64) State { return State{uint32(number)} }

// Order is the most words that a probability depends on, the word itself included.
func (m *Model) Order() int { return len(m.levels) }

// Counts is the number of n-grams of each order, from 1 on.
func (m *Model) Counts() []int { return append([]int(nil), m.levels...) }

// Vocabulary is the words that the model knows.
func (m *Model) Vocabulary() *Vocabulary { return m.vocabulary }

// Bytes is what the model takes in memory.
func (m *Model) Bytes() int64 {
	return m.vocabulary.Bytes() + 4*int64(cap(m.words)) + 16*int64(cap(m.inner)) + 8*int64(cap(m.leaves))
}

// Unit is what the model's words are: characters where each is one code point and Space is among them, else words. Of
// texts in which no line has two words Space isn't among them: then the file says so, by [Heading].
func (m *Model) Unit() Unit {
	if _, spaced := m.vocabulary.ID(Space); !spaced && !m.spelled {
		return Words
	}
	for w := Word(len(marks)); int(w) < m.vocabulary.Size(); w++ {
		if !oneRune(m.vocabulary.at(w)) {
			return Words
		}
	}
	return Characters
}

// Begin is the state behind <s>.
func (m *Model) Begin() State { return m.begin }

// Score is the natural logarithm of the probability of a word behind what was said, and the state with the word.
func (m *Model) Score(s State, w Word) (nats float64, next State) {
	if int(w) >= m.vocabulary.Size() {
		w = Unknown
	}
	log10, node := m.step(s.node, uint32(w))
	return log10 * math.Ln10, State{node}
}

// End is the natural logarithm of the probability that the sentence ends here.
func (m *Model) End(s State) (nats float64) {
	nats, _ = m.Score(s, End)
	return nats
}

// step is Score by the numbers of nodes and words, in log10.
func (t *tree) step(at, word uint32) (log10 float64, next uint32) {
	found := 1 + word
	for at != 0 {
		if n := t.child(at, word); n != 0 {
			found = n
			break
		}
		log10 += float64(t.inner[at].backoff)
		at = t.inner[at].link
	}
	if i := int(found) - (len(t.inner) - 1); i >= 0 {
		return log10 + float64(t.leaves[i].prob), t.leaves[i].link
	}
	log10 += float64(t.inner[found].prob)
	if t.matters(found) {
		return log10, found
	}
	return log10, t.inner[found].link
}

// matters says whether an n-gram makes a difference to what follows it.
func (t *tree) matters(node uint32) bool {
	n := &t.inner[node]
	return n.child != t.inner[node+1].child || n.backoff != 0
}

// child is a node's child for a word, 0 where there is none.
func (t *tree) child(node, word uint32) uint32 {
	if node == 0 {
		return 1 + word
	}
	return search(t.words, t.inner[node].child, t.inner[node+1].child, word)
}

// search finds a word among the sorted words[from:to], and is 0 where it is not there.
func search(words []uint32, from, to, word uint32) uint32 {
	for to-from > 8 {
		if mid := from + (to-from)/2; words[mid] <= word {
			from = mid
		} else {
			to = mid
		}
	}
	for _, w := range words[from:to] {
		if w == word {
			return from
		}
		from++
	}
	return 0
}
