package sentencepiece

import "container/heap"

// node is a stretch of a text, one in a list of all.
type node struct {
	start, end int // in bytes; an empty one was joined to the one before it
	prev, next int // -1 for none
	symbol     bool
}

// join is two neighbors that would be a piece together.
type join struct {
	left, right int
	size        int // bytes of both, by which a pair is known that has changed since
	score       float32
}

// joins is a heap: the best score first, then the leftmost.
type joins []join

func (j joins) Len() int { return len(j) }
func (j joins) Less(a, b int) bool {
	return j[a].score > j[b].score || j[a].score == j[b].score && j[a].left < j[b].left
}
func (j joins) Swap(a, b int) { j[a], j[b] = j[b], j[a] }
func (j *joins) Push(x any)   { *j = append(*j, x.(join)) }
func (j *joins) Pop() any {
	last := (*j)[len(*j)-1]
	*j = (*j)[:len(*j)-1]
	return last
}

// merging is a text while its neighbors are joined.
type merging struct {
	*Model
	text  string
	nodes []node
	queue joins
	// halves says of what two texts a piece was joined that is not to be used.
	halves map[string][2]string
}

// encodeBPE joins the two neighbors whose piece has the best score, again and again.
func (m *Model) encodeBPE(s string) []Part {
	g := merging{Model: m, text: s}
	at := 0
	for i, c := range m.characters(s) {
		g.nodes = append(g.nodes, node{start: at, end: at + len(c.text), prev: i - 1, next: i + 1, symbol: c.symbol})
		at += len(c.text)
	}
	g.nodes[len(g.nodes)-1].next = -1
	for i := range g.nodes[1:] {
		g.consider(i, i+1)
	}
	for g.queue.Len() > 0 {
		j := heap.Pop(&g.queue).(join)
		left, right := &g.nodes[j.left], &g.nodes[j.right]
		if left.start == left.end || right.start == right.end || right.end-left.start != j.size {
			continue
		}
		left.end, left.next = right.end, right.next
		if right.next >= 0 {
			g.nodes[right.next].prev = j.left
		}
		right.start = right.end
		g.consider(left.prev, j.left)
		g.consider(j.left, left.next)
	}
	var parts []Part
	for i := 0; i >= 0; i = g.nodes[i].next {
		parts = g.part(s[g.nodes[i].start:g.nodes[i].end], parts)
	}
	return parts
}

// consider queues two neighbors if they are a piece together.
func (g *merging) consider(left, right int) {
	if left < 0 || right < 0 || g.nodes[left].symbol || g.nodes[right].symbol {
		return
	}
	start, middle, end := g.nodes[left].start, g.nodes[right].start, g.nodes[right].end
	id, ok := g.texts[g.text[start:end]]
	if !ok {
		return
	}
	p := &g.Pieces[id]
	heap.Push(&g.queue, join{left, right, end - start, p.Score})
	if p.Kind == Unused {
		if g.halves == nil {
			g.halves = map[string][2]string{}
		}
		g.halves[g.text[start:end]] = [2]string{g.text[start:middle], g.text[middle:end]}
	}
}

// part appends a text that was joined; one that is not to be used is taken apart again.
func (g *merging) part(s string, parts []Part) []Part {
	id := g.id(s)
	halves, apart := g.halves[s]
	if g.Pieces[id].Kind != Unused || !apart {
		return append(parts, Part{id, s})
	}
	return g.part(halves[1], g.part(halves[0], parts))
}
