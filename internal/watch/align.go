package watch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// pair is a column of an alignment: what stands in the reference, and what was recognized in its place; one of the two
// may be "".
type pair struct {
	Reference  string `json:"r"`
	Hypothesis string `json:"h"`
}

// mostClusters is the longest text that is aligned: the table of a pair has the square of it in bytes. What is behind
// is one column.
const mostClusters = 1500

// align aligns two texts by what readers take for letters, at the least number of edits (Levenshtein). Where several
// are least, a pair is preferred to a deletion and that to an insertion, seen from the end, as in text.Align.
func align(reference, hypothesis string) []pair {
	ref, refRest := clusters(reference)
	hyp, hypRest := clusters(hypothesis)
	pairs := path(ref, hyp)
	if refRest != "" || hypRest != "" {
		pairs = append(pairs, pair{refRest, hypRest})
	}
	return pairs
}

// path is a cheapest alignment.
func path(ref, hyp []string) []pair {
	const pairing, deletion, insertion = 0, 1, 2
	w := len(hyp) + 1
	moves := make([]uint8, (len(ref)+1)*w)
	row := make([]int, w)
	for j := range row {
		row[j], moves[j] = j, insertion
	}
	for i, r := range ref {
		diagonal := row[0]
		row[0]++
		moves[(i+1)*w] = deletion
		for j, h := range hyp {
			best, move := diagonal, pairing
			if r != h {
				best++
			}
			if up := row[j+1] + 1; up < best {
				best, move = up, deletion
			}
			if left := row[j] + 1; left < best {
				best, move = left, insertion
			}
			diagonal, row[j+1] = row[j+1], best
			moves[(i+1)*w+j+1] = uint8(move)
		}
	}
	var back []pair
	for i, j := len(ref), len(hyp); i > 0 || j > 0; {
		p := pair{}
		move := moves[i*w+j]
		if move != insertion {
			i--
			p.Reference = ref[i]
		}
		if move != deletion {
			j--
			p.Hypothesis = hyp[j]
		}
		back = append(back, p)
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// clusters cuts a text into extended grapheme clusters (Unicode Standard Annex 29), of which those that a virama joins
// to a conjunct are one, as rule GB9c has it. Of a long text the end is left over.
func clusters(text string) (list []string, rest string) {
	state := -1
	for text != "" && len(list) < mostClusters {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if n := len(list); n > 0 && joins(list[n-1], cluster) {
			list[n-1] += cluster
		} else {
			list = append(list, cluster)
		}
	}
	return list, text
}

// viramas join the consonants of the scripts whose conjuncts are written as one (Indic_Conjunct_Break=Linker).
const viramas = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"

// joins says whether a cluster ends in a virama and the next begins with a letter of its script, Devanagari to
// Malayalam.
func joins(before, next string) bool {
	end := strings.TrimRight(before, "\u200d")
	last, _ := utf8.DecodeLastRuneInString(end)
	first, _ := utf8.DecodeRuneInString(next)
	return strings.ContainsRune(viramas, last) && unicode.Is(unicode.Lo, first) && last>>7 == first>>7
}
