package sentencepiece

import "unicode/utf8"

// trie finds the keys that a text starts with. nil is one without keys.
type trie struct {
	next map[edge]int32
	ids  []int // of the keys that end at each node, -1 for none
}

// edge leads from a node by one character.
type edge struct {
	node int32
	char rune
}

// with adds a key to a trie, which may be nil.
func (t *trie) with(key string, id int) *trie {
	if t == nil {
		t = &trie{next: map[edge]int32{}, ids: []int{-1}}
	}
	node := int32(0)
	for _, r := range key {
		to, ok := t.next[edge{node, r}]
		if !ok {
			to = int32(len(t.ids))
			t.ids = append(t.ids, -1)
			t.next[edge{node, r}] = to
		}
		node = to
	}
	t.ids[node] = id
	return t
}

// each calls use with the length in bytes and the id of every key that s starts with, the shortest first.
func (t *trie) each(s string, use func(length, id int)) {
	if t == nil {
		return
	}
	node := int32(0)
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		to, ok := t.next[edge{node, r}]
		if !ok || r == utf8.RuneError && size == 1 {
			return
		}
		at += size
		node = to
		if id := t.ids[node]; id >= 0 {
			use(at, id)
		}
	}
}

// longest is the length in bytes of the longest key that s starts with; 0 for none.
func (t *trie) longest(s string) int {
	longest := 0
	t.each(s, func(length, _ int) { longest = length })
	return longest
}
