package ngram

// counts is a tree of n-grams with how often they were seen, numbered as a tree is: node 0 is the root, node 1+w the
// word w, order by order.
type counts struct {
	words []uint32 // the last word of each node's n-gram
	count []uint32 // how often it was seen
	link  []uint32 // the node of the n-gram without its first word
	child []uint32 // the first child, of the nodes of all orders but the highest and of the one behind them
	first []uint32 // the first node of each order from 0 on, and the end
}

// order is the highest order.
func (c *counts) order() int { return len(c.first) - 2 }

// children are the nodes from first to end.
func (c *counts) children(node uint32) (first, end uint32) { return c.child[node], c.child[node+1] }

// neighbors goes over sorted positions. depth is how many words the n-grams from a position on have: as many as the
// order, or up to </s>. shared is how many of them the position before has too.
func neighbors(tokens, positions []uint32, order int, take func(position, shared, depth int)) {
	before := -1
	for _, p := range positions {
		at, shared, depth := int(p), 0, 0
		for depth < order {
			w := tokens[at+depth]
			if before >= 0 && shared == depth && tokens[before+depth] == w {
				shared++
			}
			depth++
			if w == uint32(End) {
				break
			}
		}
		take(at, shared, depth)
		before = at
	}
}

// sizes is the number of n-grams of each order from 1 on, where the vocabulary has so many words. Orders that there are
// none of are left out.
func sizes(tokens, positions []uint32, order, vocabulary int) []int {
	n := make([]int, order)
	neighbors(tokens, positions, order, func(_, shared, depth int) {
		for k := shared; k < depth; k++ {
			n[k]++
		}
	})
	n[0] = vocabulary // those that were not seen too
	for len(n) > 1 && n[len(n)-1] == 0 {
		n = n[:len(n)-1]
	}
	return n
}

// newCounts counts the n-grams of the sizes that were found.
func newCounts(tokens, positions []uint32, sizes []int) *counts {
	c := &counts{first: []uint32{0, 1}}
	for _, n := range sizes {
		c.first = append(c.first, c.first[len(c.first)-1]+uint32(n))
	}
	order, all := len(sizes), c.first[len(c.first)-1]
	c.words, c.count, c.link = make([]uint32, all), make([]uint32, all), make([]uint32, all)
	c.child = make([]uint32, c.first[order]+1)
	c.child[0] = 1
	next := append([]uint32(nil), c.first[1:order+1]...) // the next node of each order from 1 on
	node := make([]uint32, order)                        // the n-grams from this position on
	unigrams := func(end uint32) {                       // makes nodes of the words below end
		for ; next[0] < 1+end; next[0]++ {
			c.words[next[0]] = next[0] - 1
			c.grow(next, 1)
		}
	}
	neighbors(tokens, positions, order, func(at, shared, depth int) {
		for k := shared; k < depth; k++ {
			w := tokens[at+k]
			if k == 0 {
				unigrams(w)
			}
			node[k] = next[k]
			c.words[node[k]] = w
			c.grow(next, k+1)
			next[k]++
		}
		for _, n := range node[:depth] {
			c.count[n]++
		}
	})
	unigrams(uint32(sizes[0]))
	c.child[len(c.child)-1] = all
	c.connect()
	return c
}

// grow notes where the children of the next node of an order will be.
func (c *counts) grow(next []uint32, order int) {
	if order < len(next) {
		c.child[next[order-1]] = next[order]
	}
}

// connect finds the links. All that an n-gram ends with was seen too.
func (c *counts) connect() {
	for parent := uint32(1); parent < c.first[c.order()]; parent++ {
		at, end := c.children(c.link[parent])
		for n, last := c.children(parent); n < last; n++ {
			at = search(c.words, at, end, c.words[n])
			c.link[n] = at
		}
	}
}
