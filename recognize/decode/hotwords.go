package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// nowhere is the automaton's state in which nothing is begun.
const nowhere int32 = 0

// Hotwords are phrases that a hypothesis gains by: their boost for each character, spaces within included, as often as
// the phrase stands in it in whole words. In a beam search a phrase that is begun counts already, by what is written of
// it; where it goes on otherwise that is taken back.
//
// They are the automaton of Aho and Corasick ("Efficient string matching", CACM 1975) over the bytes of what tokens
// write, so that it doesn't matter into which tokens a phrase is cut. Hotwords never change once made, and may be used
// by several goroutines.
type Hotwords struct {
	nodes []hotNode
	start int32   // where a sentence begins: behind a space
	most  float64 // that one byte adds
}

// hotNode is the begin of phrases.
type hotNode struct {
	edges []hotEdge // by their bytes
	fail  int32     // the longest other begin that this one ends with
	begun float64   // the most that a phrase has so far which is begun here or in what this one ends with, in nats
	done  float64   // what phrases have that end here, in nats
}

type hotEdge struct {
	b  byte
	to int32
}

// NewHotwords makes the automaton. A phrase with a character that no token of v writes, or that is there twice, is an
// error, which names the first of them.
func NewHotwords(v *Vocabulary, list []Hotword) (*Hotwords, error) {
	if len(list) == 0 {
		return nil, errors.New("hotwords: there are none")
	}
	h := &Hotwords{nodes: make([]hotNode, 1)}
	seen := map[string]Hotword{}
	writes := v.writes()
	var wrong []string
	for _, w := range list {
		if err := usable(w, seen, writes); err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		seen[w.key()] = w
		h.add(w)
	}
	switch n := len(wrong); {
	case n == 1:
		return nil, fmt.Errorf("hotwords: %s", wrong[0])
	case n > mostNamed:
		wrong = append(wrong[:mostNamed], fmt.Sprintf("and %d more", n-mostNamed))
		fallthrough
	case n > 1:
		return nil, fmt.Errorf("hotwords: %d of %d can't be used:\n  %s", n, len(list), strings.Join(wrong, "\n  "))
	}
	h.link()
	h.start = h.step(nowhere, ' ')
	return h, nil
}

// mostNamed is how many phrases that can't be used are named.
const mostNamed = 20

// usable is an error where a phrase can't be looked for beside those that were seen.
func usable(w Hotword, seen map[string]Hotword, writes func(rune) bool) error {
	if err := w.validate(); err != nil {
		return err
	}
	if before, twice := seen[w.key()]; twice {
		return fmt.Errorf("%v is there twice, at first as %v; remove one", w, before)
	}
	for _, r := range w.Phrase {
		if !writes(r) {
			return fmt.Errorf("%v has %q (U+%04X), which no token of the model writes: it would never be found", w, r, r)
		}
	}
	return nil
}

// writes says which characters tokens can write: in whole, or of bytes.
func (v *Vocabulary) writes() func(rune) bool {
	runes, bytes := map[rune]bool{' ': true}, [256]bool{}
	for i := range v.pieces {
		s := v.pieces[i].text
		if len(s) == 1 {
			bytes[s[0]] = true
		}
		for _, r := range s {
			runes[r] = true
		}
	}
	return func(r rune) bool {
		if runes[r] {
			return true
		}
		for _, c := range []byte(string(r)) {
			if !bytes[c] {
				return false
			}
		}
		return true
	}
}

// add writes a phrase down as a branch of the tree.
func (h *Hotwords) add(w Hotword) {
	at, sum := h.branch(nowhere, ' '), 0.0
	for i := range len(w.Phrase) {
		at = h.branch(at, w.Phrase[i])
		if rest := w.Phrase[i+1:]; rest == "" || utf8.RuneStart(rest[0]) { // a character is complete
			sum += w.Boost
			if rest == "" && w.AnyEnding {
				break
			}
		}
		h.nodes[at].begun = max(h.nodes[at].begun, sum)
	}
	if !w.AnyEnding {
		at = h.branch(at, ' ')
	}
	h.nodes[at].done += sum
}

// branch is the node behind an edge, made where there is none.
func (h *Hotwords) branch(at int32, b byte) int32 {
	i, found := h.edge(at, b)
	if !found {
		to := int32(len(h.nodes))
		h.nodes = append(h.nodes, hotNode{})
		h.nodes[at].edges = slices.Insert(h.nodes[at].edges, i, hotEdge{b, to})
	}
	return h.nodes[at].edges[i].to
}

func (h *Hotwords) edge(at int32, b byte) (int, bool) {
	return slices.BinarySearchFunc(h.nodes[at].edges, b, func(e hotEdge, b byte) int { return int(e.b) - int(b) })
}

// link finds, level by level, what each begin ends with.
func (h *Hotwords) link() {
	level := []int32{nowhere}
	for len(level) > 0 {
		var next []int32
		for _, at := range level {
			for _, e := range h.nodes[at].edges {
				n := &h.nodes[e.to]
				if at != nowhere {
					n.fail = h.step(h.nodes[at].fail, e.b)
				}
				f := &h.nodes[n.fail]
				n.begun = max(n.begun, f.begun)
				n.done += f.done
				h.most = max(h.most, n.begun+n.done-h.nodes[at].begun)
				next = append(next, e.to)
			}
		}
		level = next
	}
}

// step is the state behind a byte.
func (h *Hotwords) step(at int32, b byte) int32 {
	for {
		if i, found := h.edge(at, b); found {
			return h.nodes[at].edges[i].to
		}
		if at == nowhere {
			return nowhere
		}
		at = h.nodes[at].fail
	}
}

// write goes on by a text behind a prefix, which may end within a word, and adds to done what phrases have that are
// complete now. Several spaces are one.
func (h *Hotwords) write(at int32, done float64, within bool, s string) (int32, float64) {
	for i := range len(s) {
		if s[i] == ' ' && !within {
			continue
		}
		within = s[i] != ' '
		at = h.step(at, s[i])
		done += h.nodes[at].done
	}
	return at, done
}

// begin is the state at the start of a sentence.
func (h *Hotwords) begin() int32 {
	if h == nil {
		return nowhere
	}
	return h.start
}

// begun is what phrases have that are begun.
func (h *Hotwords) begun(at int32) float64 {
	if h == nil {
		return 0
	}
	return h.nodes[at].begun
}

// mostGain bounds what so many bytes add.
func (h *Hotwords) mostGain(bytes int) float64 {
	if h == nil {
		return 0
	}
	return float64(bytes) * h.most
}

// Hotword is a phrase and its boost.
type Hotword struct {
	Phrase    string  // words with single spaces between them, written as the model writes
	Boost     float64 // for each of its characters, in nats: more than 0
	AnyEnding bool    // its last word may go on
	Line      int     // where it was read, for messages; 0: nowhere
}

// key is what no two hotwords share.
func (w Hotword) key() string {
	if w.AnyEnding {
		return w.Phrase + "*"
	}
	return w.Phrase
}

// String is the phrase and its line.
func (w Hotword) String() string {
	if w.Line > 0 {
		return fmt.Sprintf("%q (line %d)", w.key(), w.Line)
	}
	return fmt.Sprintf("%q", w.key())
}

func (w Hotword) validate() error {
	switch {
	case strings.Join(strings.Fields(w.Phrase), " ") != w.Phrase || w.Phrase == "" || !utf8.ValidString(w.Phrase):
		return fmt.Errorf("%v is no phrase: want words in UTF-8, with single spaces between them", w)
	case len(w.Phrase) > mostPhrase:
		return fmt.Errorf("the phrase %.40q... (line %d) has %d bytes; at most %d can be looked for", w.Phrase, w.Line, len(w.Phrase), mostPhrase)
	case !(w.Boost > 0 && w.Boost <= mostBoost):
		return fmt.Errorf("%v has a boost of %v nats a character: want more than 0 and at most %d", w, w.Boost, mostBoost)
	}
	return nil
}

// Bounds of hotwords.
const (
	mostHotwords = 100_000 // in a list
	mostPhrase   = 1000    // bytes of a phrase
	mostBoost    = 100     // nats a character: beyond that nothing is heard any more
)

// Bytes is what the automaton takes in memory.
func (h *Hotwords) Bytes() int64 {
	sum := int64(cap(h.nodes)) * int64(unsafe.Sizeof(hotNode{}))
	for i := range h.nodes {
		sum += int64(cap(h.nodes[i].edges)) * int64(unsafe.Sizeof(hotEdge{}))
	}
	return sum
}
