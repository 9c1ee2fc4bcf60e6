package decode

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"unsafe"
)

// Lexicon says of the begin of a word how likely the likeliest word is that begins like that. A beam search takes it
// for the word until the word has ended (language model look-ahead, Ortmanns, Ney and Eiden, ICSLP 1996): without it,
// words cost nothing as long as they don't end, and the prefixes that never end one drive out the others. What a
// hypothesis has in the end is the same.
//
// A lexicon never changes once made, and may be used by several goroutines.
type Lexicon struct {
	nodes   []letter // of a tree of bytes, level by level; the children of each node are beside each other
	unknown float64
	lowest  float64 // of all
}

// letter is the begin of words.
type letter struct {
	child uint32  // the first; they end where those of the next node begin
	best  float32 // log-probability of the likeliest word, in nats
	b     byte    // its last byte
}

// strange is the state behind letters with which no word begins.
const strange int32 = -1

// NewLexicon makes a lexicon of words and their log-probabilities in nats, whatever stood before them; unknown is that
// of a word which is not there.
func NewLexicon(words iter.Seq2[string, float64], unknown float64) (*Lexicon, error) {
	type entry struct {
		word string
		nats float64
	}
	var list []entry
	for w, nats := range words {
		if w == "" || math.IsNaN(nats) {
			return nil, fmt.Errorf("lexicon: %q has a log-probability of %v: want words and numbers", w, nats)
		}
		list = append(list, entry{w, bounded(nats)})
	}
	if len(list) == 0 {
		return nil, errors.New("lexicon: there are no words")
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.word, b.word) })
	l := &Lexicon{nodes: []letter{{}}, unknown: bounded(unknown), lowest: bounded(unknown)}
	type span struct{ from, to, depth int } // of the list, of words that begin with the same bytes
	level := []span{{0, len(list), 0}}
	for at := 0; len(level) > 0; {
		var next []span
		for _, s := range level {
			l.nodes[at].child = uint32(len(l.nodes))
			at++
			from := s.from
			for from < s.to && len(list[from].word) == s.depth {
				from++ // the word ends here
			}
			for from < s.to {
				b, best, to := list[from].word[s.depth], math.Inf(-1), from
				for to < s.to && list[to].word[s.depth] == b {
					best = max(best, list[to].nats)
					to++
				}
				l.nodes = append(l.nodes, letter{best: float32(best), b: b})
				l.lowest = min(l.lowest, float64(float32(best)))
				next = append(next, span{from, to, s.depth + 1})
				from = to
			}
		}
		level = next
	}
	if len(l.nodes) > math.MaxInt32-1 {
		return nil, fmt.Errorf("lexicon: its words have %d different begins: leave rare ones out", len(l.nodes))
	}
	l.nodes = append(l.nodes, letter{child: uint32(len(l.nodes))}) // where the last one's children end
	return l, nil
}

// step is the state behind more letters of a word.
func (l *Lexicon) step(at int32, letters string) int32 {
	for i := range len(letters) {
		if at == strange {
			return strange
		}
		from, to := l.nodes[at].child, l.nodes[at+1].child
		at = strange
		for n := from; n < to; n++ {
			if l.nodes[n].b == letters[i] {
				at = int32(n)
				break
			}
		}
	}
	return at
}

// best is the log-probability of the likeliest word that begins like this.
func (l *Lexicon) best(at int32) float64 {
	if at == strange {
		return l.unknown
	}
	return float64(l.nodes[at].best)
}

// Bytes is what the lexicon takes in memory.
func (l *Lexicon) Bytes() int64 { return int64(cap(l.nodes)) * int64(unsafe.Sizeof(letter{})) }
