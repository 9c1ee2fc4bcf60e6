package sentencepiece

import (
	"slices"
	"unicode/utf8"
)

// unknownPenalty is how much less than the least score of a piece an unknown character has.
const unknownPenalty = 10

// step is the best way to cut a text up to some byte.
type step struct {
	score float32
	start int // of its last part; -1: no way was found yet
	id    int
}

// encodeUnigram finds the parts whose scores add up to the most (Viterbi 1967). Sums are rounded where the library
// rounds them, as of equal ones the first is taken.
func (m *Model) encodeUnigram(s string) []Part {
	best := make([]step, len(s)+1)
	for i := range best {
		best[i].start = -1
	}
	unknown := m.least - unknownPenalty
	for start := 0; start < len(s); {
		here := best[start].score
		_, one := utf8.DecodeRuneInString(s[start:])
		alone := false // the first character is a piece
		m.trie.each(s[start:], func(length, id int) {
			p := &m.Pieces[id]
			if p.Kind == Unused {
				return
			}
			score := float64(p.Score)
			if p.Kind == UserDefined {
				score = float64(float32(length)*m.greatest) - 0.1
			}
			score += float64(here)
			if to := &best[start+length]; to.start < 0 || score > float64(to.score) {
				*to = step{float32(score), start, id}
			}
			alone = alone || length == one
		})
		if !alone {
			score := unknown + here
			if to := &best[start+one]; to.start < 0 || score > to.score {
				*to = step{score, start, m.unknown}
			}
		}
		start += one
	}
	var parts []Part
	for end := len(s); end > 0; end = best[end].start {
		parts = append(parts, Part{best[end].id, s[best[end].start:end]})
	}
	slices.Reverse(parts)
	return parts
}
