package ngram

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"

	"konkanitrain/internal/words"
)

// Report is what an estimate was made of.
type Report struct {
	Sentences  int        `json:"sentences"`
	Words      int        `json:"words"`      // running
	Marks      int        `json:"marks"`      // words that are written as <s>, </s> or <unk>, left out
	Vocabulary int        `json:"vocabulary"` // different words, with <unk>, <s> and </s>
	Counted    []int      `json:"counted"`    // different n-grams in the texts, by order
	Kept       []int      `json:"kept"`       // of them, in the model
	Discounts  []Discount `json:"discounts"`  // by order
	Bytes      int64      `json:"bytes"`      // the most that was taken for it
}

// Estimate makes a model of the texts, which the counter has no longer afterwards. It is interpolated modified
// Kneser-Ney (Chen and Goodman 1999, section 3): of an n-gram with the history h and the word w
//
//	p(w|h) = (c(hw) - D(c(hw))) / sum c(h.)  +  b(h) p(w|h'),   b(h) = sum D(c(h.)) / sum c(h.)
//
// where h' is h without its first word, sums go over all words, and below words is 1/V for each of the V words of the
// vocabulary but <s>, so that <unk> has a probability. c is how often an n-gram was seen, if it is of the highest order
// or begins with <s>; else before how many different words it was seen. D is by order, see [Discount]. What is pruned
// gives its c to b(h). All is as lmplz of kenlm has it to rounding (here it is float64 up to the model), but for
// one n-gram of each order: of the last one lmplz takes how often it was seen where D is found. The model depends on
// the sentences and not on their order.
func (c *Counter) Estimate() (*Model, *Report, error) {
	o, r := c.options, c.report
	if r.Sentences == 0 {
		return nil, nil, errors.New("there is no text to estimate a language model from: no line has a word")
	}
	v, tokens := c.take()
	free(len(tokens)) // the pieces that they were kept in
	positions := sortedPositions(tokens, o.Order, v.Size())
	free(len(tokens)) // the second list of positions
	found := sizes(tokens, positions, o.Order, v.Size())
	r.Bytes = need(len(tokens), v, found)
	if err := o.allow(r.Bytes, "the "+grams(found, o.Unit)+" of the texts"); err != nil {
		return nil, nil, err
	}
	e := &estimate{counts: newCounts(tokens, positions, found), vocabulary: v}
	n := len(tokens)
	tokens, positions = nil, nil
	free(n)
	e.prune(o)
	e.adjust()
	e.weigh()
	m, err := e.model()
	if err != nil {
		return nil, nil, err
	}
	r.Counted, r.Discounts = found, e.discounts
	r.Kept, r.Vocabulary = m.Counts(), m.vocabulary.Size()
	return m, &r, nil
}

// free gives back what is no longer used of so many words, where that is much.
func free(tokens int) {
	if tokens > 1<<20 {
		runtime.GC()
	}
}

// need is the most bytes that an estimate takes, with so many n-grams by order: while they are counted, or when the
// model is made of them.
func need(tokens int, v *Vocabulary, found []int) int64 {
	const counted, estimated, node, leaf = 4 * 4, 2 * 8, 4 + 16, 4 + 8 // bytes of an n-gram: counts, weights, the model's
	below, highest := int64(0), int64(found[len(found)-1])
	for _, n := range found[:len(found)-1] {
		below += int64(n)
	}
	counts := counted * (below + highest)
	sorting := bytesPerWord * int64(tokens)
	counting := 2*4*int64(tokens) + counts
	model := counts + (estimated+node+4)*below + (estimated+leaf+4)*highest
	return max(sorting, counting, model) + 2*v.Bytes()
}

// grams names numbers of n-grams: "5 words, 20 2-grams, 30 3-grams".
func grams(n []int, u Unit) string {
	list := []string{words.Count(n[0], u.Noun())}
	for i, x := range n[1:] {
		list = append(list, words.Count(x, fmt.Sprintf("%d-gram", i+2)))
	}
	return words.List(list, len(list))
}

// estimate is counts on their way to a model.
type estimate struct {
	*counts
	vocabulary *Vocabulary
	pruned     []bool // by node; nil where none is
	discounts  []Discount
	prob       []float64 // by node, of its last word behind the others
	backoff    []float64 // by node of an order below the highest
}

// level is the nodes of an order.
func (e *estimate) level(order int) (first, end uint32) { return e.first[order], e.first[order+1] }

// prune marks what was seen too rarely. <unk>, <s> and </s> stay.
func (e *estimate) prune(o Options) {
	if o.threshold(e.order()) == 0 {
		return
	}
	e.pruned = make([]bool, len(e.words))
	for k := 1; k <= e.order(); k++ {
		for n, end := e.level(k); n < end; n++ {
			e.pruned[n] = e.count[n] <= o.threshold(k) && (k > 1 || e.words[n] >= uint32(len(marks)))
		}
	}
}

// lost says whether a node is pruned.
func (e *estimate) lost(n uint32) bool { return e.pruned != nil && e.pruned[n] }

// adjust makes counts of orders below the highest those of different words in front; what begins with <s> has none.
func (e *estimate) adjust() {
	from, to := 1+uint32(Start), 2+uint32(Start) // the n-grams that begin with <s>
	e.count[from] = 0                            // it isn't predicted
	for k := 1; k < e.order(); k++ {
		for n, end := e.level(k); n < end; n++ {
			if n < from || n >= to {
				e.count[n] = 0
			}
		}
		for n, end := e.level(k + 1); n < end; n++ {
			e.count[e.link[n]]++
		}
		from, to = e.child[from], e.child[to]
	}
	for k := 1; k <= e.order(); k++ {
		var n [5]int
		for node, end := e.level(k); node < end; node++ {
			if c := e.count[node]; c < uint32(len(n)) {
				n[c]++
			}
		}
		e.discounts = append(e.discounts, discount(n))
	}
}

// weigh finds probabilities and back-off weights, order by order.
func (e *estimate) weigh() {
	e.prob = make([]float64, len(e.words))
	e.backoff = make([]float64, len(e.child)-1)
	vocabulary := -1 // without <s>
	for n, end := e.level(1); n < end; n++ {
		if !e.lost(n) {
			vocabulary++
		}
	}
	uniform := 1 / float64(vocabulary)
	for k := 1; k <= e.order(); k++ {
		d := &e.discounts[k-1]
		for history, end := e.level(k - 1); history < end; history++ {
			sum := e.share(history, d)
			for n, last := e.children(history); n < last; n++ {
				below := uniform
				if k > 1 {
					below = e.prob[e.link[n]]
				}
				e.prob[n] = e.backoff[history] * below
				if sum > 0 {
					e.prob[n] += (float64(e.count[n]) - d.of(e.count[n])) / sum
				}
			}
		}
	}
	e.prob[1+Start] = 0
}

// share finds the back-off weight of a history, and returns the sum of the counts behind it.
func (e *estimate) share(history uint32, d *Discount) (sum float64) {
	left := 0.0
	for n, end := e.children(history); n < end; n++ {
		c := e.count[n]
		sum += float64(c)
		if e.lost(n) {
			left += float64(c)
		} else {
			left += d.of(c)
		}
	}
	e.backoff[history] = 1
	if sum > 0 {
		e.backoff[history] = left / sum
	}
	return sum
}

// model is what is kept, in log10 and float32.
func (e *estimate) model() (*Model, error) {
	v, became := e.vocabulary, []uint32(nil)
	if e.pruned != nil {
		v, became = v.sorted(func(w Word) bool { return e.pruned[1+w] })
	}
	kept := make([]int, e.order())
	highest := 1
	for k := range kept {
		for n, end := e.level(k + 1); n < end; n++ {
			if !e.lost(n) {
				kept[k]++
				highest = k + 1
			}
		}
	}
	t := newTree()
	parents := []uint32{0} // of the order before: the number in the tree, by node
	for k := 1; k <= highest; k++ {
		places := make([]uint32, e.first[k+1]-e.first[k])
		if err := t.add(kept[k-1], e.keep(k, parents, places, uint32(len(t.words)), became), k == highest); err != nil {
			return nil, err
		}
		parents = places
	}
	return t.model(v), nil
}

// keep yields what is kept of an order. parents are the numbers in the tree of the order before, and places, to be
// filled, those of this one, which begin with next.
func (e *estimate) keep(order int, parents, places []uint32, next uint32, became []uint32) iter.Seq[gram] {
	return func(yield func(gram) bool) {
		first, _ := e.level(order)
		for history, end := e.level(order - 1); history < end; history++ {
			for n, last := e.children(history); n < last; n++ {
				if e.lost(n) {
					continue
				}
				g := gram{parent: parents[history-e.first[order-1]], word: e.words[n], prob: log10(e.prob[n])}
				if became != nil {
					g.word = became[g.word]
				}
				if int(n) < len(e.backoff) {
					g.backoff = log10(e.backoff[n])
				}
				places[n-first] = next
				next++
				if !yield(g) {
					return
				}
			}
		}
	}
}

// log10 is the logarithm of a probability or weight, which is 1 at most, as models have it.
func log10(p float64) float32 { return float32(min(max(math.Log10(p), never), 0)) }
