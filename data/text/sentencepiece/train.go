package sentencepiece

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// longestPiece is how many characters a trained piece has at most, ▁ included: as many as SentencePiece's by default.
const longestPiece = 16

// TrainBPE makes a model of size pieces from texts by byte pair encoding (Sennrich et al. 2016). The first three pieces
// are <unk>, <s> and </s>, the last ones are the characters that occur at least minCount times; between them is what
// joins make, in their order. Each joins the neighbors within words that make the most frequent text, at least two; of
// equally frequent texts the one with fewer characters, then the first in code point order. A word begins with the
// space before it. The model is a function of the set of texts. It is an error if there are fewer joins to make, or
// more characters, than size.
func TrainBPE(texts iter.Seq[string], size, minCount int) (*Model, error) {
	m := &Model{Algorithm: BPE, normalizer: defaultNormalizer(), unknownText: defaultUnknown}
	counts := map[string]int{}
	for s := range texts {
		for _, w := range splitWords(m.normalizer.normalize(s)) {
			counts[w]++
		}
	}
	t := newTrainer(counts, minCount)
	m.Pieces = []Piece{{"<unk>", 0, Unknown}, {"<s>", 0, Control}, {"</s>", 0, Control}}
	specials := len(m.Pieces)
	joins := size - specials - len(t.characters)
	switch {
	case len(t.characters) < 2:
		return nil, fmt.Errorf("there are no characters that occur %d times or more", minCount)
	case joins < 0:
		return nil, fmt.Errorf("%d pieces are too few: blank, sos/eos, unk and the %d characters of the texts are %d",
			size, len(t.characters), size-joins)
	}
	for range joins {
		text, ok := t.join()
		if !ok {
			return nil, fmt.Errorf("%d pieces are too many: the texts have no more than %d, of characters and of what is in them twice",
				size, len(m.Pieces)+len(t.characters))
		}
		m.Pieces = append(m.Pieces, Piece{Text: text})
	}
	for _, c := range t.characters {
		m.Pieces = append(m.Pieces, Piece{Text: c})
	}
	for i := specials; i < len(m.Pieces); i++ {
		m.Pieces[i].Score, m.Pieces[i].Kind = -float32(i-specials), Normal
	}
	return m, m.index()
}

// trainer is byte pair encoding in progress. Texts have numbers: characters, pieces, and what a join would make.
type trainer struct {
	characters []string // the most frequent first
	words      []word
	texts      []text
	numbers    map[string]int32
	pairs      map[[2]int32]int32 // what two texts make together; none where that would be too long
	queue      candidates
	changed    map[int32]bool // texts whose counts are not what the queue has
}

// word is a word of the texts, in the parts that it has so far.
type word struct {
	parts []int32
	count int
}

// none is the number of no text: a character that is too rare, and what stands beside it.
const none = -1

type text struct {
	string
	size  int     // in characters
	count int     // of neighbors that would make it
	words []int32 // in which they are, or were
	piece bool
}

func newTrainer(counts map[string]int, minCount int) *trainer {
	t := &trainer{numbers: map[string]int32{}, pairs: map[[2]int32]int32{}, changed: map[int32]bool{}}
	characters := map[string]int{}
	for w, n := range counts {
		for _, r := range w {
			characters[string(r)] += n
		}
	}
	maps.DeleteFunc(characters, func(_ string, n int) bool { return n < minCount })
	t.characters = slices.SortedFunc(maps.Keys(characters), func(a, b string) int {
		return cmp.Or(cmp.Compare(characters[b], characters[a]), cmp.Compare(a, b))
	})
	for _, c := range t.characters {
		t.texts[t.number(c)].piece = true
	}
	for w, n := range counts {
		parts := make([]int32, 0, utf8.RuneCountInString(w))
		for _, r := range w {
			id, ok := t.numbers[string(r)]
			if !ok {
				id = none
			}
			parts = append(parts, id)
		}
		t.words = append(t.words, word{parts, n})
		for i := range len(parts) - 1 {
			t.count(parts[i], parts[i+1], int32(len(t.words)-1), n)
		}
	}
	t.enqueue()
	return t
}

// number of a text, a new one where it has none.
func (t *trainer) number(s string) int32 {
	id, ok := t.numbers[s]
	if !ok {
		id = int32(len(t.texts))
		t.numbers[s] = id
		t.texts = append(t.texts, text{string: strings.Clone(s), size: utf8.RuneCountInString(s)})
	}
	return id
}

// together is the number of what two parts make.
func (t *trainer) together(a, b int32) int32 {
	if a == none || b == none {
		return none
	}
	id, ok := t.pairs[[2]int32{a, b}]
	if !ok {
		id = none
		if t.texts[a].size+t.texts[b].size <= longestPiece {
			id = t.number(t.texts[a].string + t.texts[b].string)
		}
		t.pairs[[2]int32{a, b}] = id
	}
	return id
}

// count adds n to the count of what two neighbors in word w make.
func (t *trainer) count(a, b, w int32, n int) {
	id := t.together(a, b)
	if id == none {
		return
	}
	x := &t.texts[id]
	x.count += n
	t.changed[id] = true
	if n > 0 && (len(x.words) == 0 || x.words[len(x.words)-1] != w) {
		x.words = append(x.words, w)
	}
}

// enqueue queues what has changed.
func (t *trainer) enqueue() {
	for id := range t.changed {
		if x := &t.texts[id]; x.count > 1 {
			heap.Push(&t.queue, candidate{x.string, x.size, x.count, id})
		}
	}
	clear(t.changed)
}

// join makes the next piece; false where nothing is left to join.
func (t *trainer) join() (string, bool) {
	for t.queue.Len() > 0 {
		best := heap.Pop(&t.queue).(candidate)
		x := &t.texts[best.id]
		if x.count != best.count {
			continue // queued again with its count, if there is anything left
		}
		again := x.piece // overlaps had kept these neighbors apart
		x.piece = true
		words := x.words
		x.words = nil
		for _, w := range words {
			t.joinIn(w, best.id)
		}
		t.enqueue()
		if !again {
			return best.string, true
		}
	}
	return "", false
}

// joinIn joins the neighbors in a word that make the text id, from the left.
func (t *trainer) joinIn(w, id int32) {
	parts, n := t.words[w].parts, t.words[w].count
	out := parts[:0]
	for i := 0; i < len(parts); i++ {
		if i+1 == len(parts) || t.together(parts[i], parts[i+1]) != id {
			out = append(out, parts[i])
			continue
		}
		left, right := parts[i], parts[i+1]
		if len(out) > 0 {
			before := out[len(out)-1]
			t.count(before, left, w, -n)
			t.count(before, id, w, n)
		}
		t.count(left, right, w, -n)
		if i++; i+1 < len(parts) {
			t.count(right, parts[i+1], w, -n)
			t.count(id, parts[i+1], w, n)
		}
		out = append(out, id)
	}
	t.words[w].parts = out
}

// candidate is a text that a join would make.
type candidate struct {
	string
	size, count int
	id          int32
}

// candidates is a heap, the best first.
type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(c[b].count, c[a].count), cmp.Compare(c[a].size, c[b].size), cmp.Compare(c[a].string, c[b].string)) < 0
}
func (c candidates) Swap(a, b int) { c[a], c[b] = c[b], c[a] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
