package ngram

// sortedPositions are all positions in tokens, in the order of the words from each of them on, as far as order goes; in
// the order of the positions where these are equal. Behind the end are zeros. Words are below size.
//
// It sorts by one word after the other, the last one first, each time counting (Knuth, volume 3, section 5.2.5): 8
// bytes a position, and as many passes as the order.
func sortedPositions(tokens []uint32, order, size int) []uint32 {
	from, to := make([]uint32, len(tokens)), make([]uint32, len(tokens))
	for i := range from {
		from[i] = uint32(i)
	}
	starts := make([]uint32, size+1)
	for k := min(order, len(tokens)) - 1; k >= 0; k-- {
		clear(starts)
		starts[1] = uint32(k) // the last positions, behind which the k-th word is none
		for _, w := range tokens[k:] {
			starts[w+1]++
		}
		for w := range size {
			starts[w+1] += starts[w]
		}
		for _, p := range from {
			w := uint32(0)
			if i := int(p) + k; i < len(tokens) {
				w = tokens[i]
			}
			to[starts[w]] = p
			starts[w]++
		}
		from, to = to, from
	}
	return from
}
