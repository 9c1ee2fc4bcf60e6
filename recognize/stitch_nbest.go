package recognize

import (
	"cmp"
	"slices"
	"strings"

	"konkanitrain/internal/scores"
	"konkanitrain/recognize/transcript"
)

// Where pieces are joined, each segment has a part of its piece's text. Its alternatives are the same part of the
// piece's hypotheses: up to where, or from where, these stand against the place at which the text is cut. They keep
// their scores, which are those of the whole piece, and of those that are alike now the best one stays.

// cutAll are the alternatives of a segment whose text is cut behind so many bytes: of each what take makes of its two
// parts. text is what became of the segment's own text.
func cutAll(s transcript.Segment, at int, take func(before, behind string) string, text string) (list []transcript.Alternative) {
	for i, a := range s.Alternatives {
		part := text
		if i > 0 { // the first is the text
			part = strings.TrimSpace(take(cutLike(s.Text, at, a.Text)))
		}
		if !slices.ContainsFunc(list, func(x transcript.Alternative) bool { return x.Text == part }) {
			list = append(list, transcript.Alternative{Text: part, Score: a.Score})
		}
	}
	return list
}

// cutLike cuts another text where it stands, with the fewest edits, against the place behind so many bytes of one.
func cutLike(one string, at int, other string) (before, behind string) {
	n, m := 0, 0
	for _, p := range scores.AlignClusters(one, other) {
		if n >= at {
			break
		}
		n, m = n+len(p.Ref), m+len(p.Hyp)
	}
	return other[:m], other[m:]
}

// together are the alternatives of two segments that become one: the best of all pairs, as many as the longer list has.
func together(a, b transcript.Segment) (list []transcript.Alternative) {
	for _, x := range a.Alternatives {
		for _, y := range b.Alternatives {
			list = append(list, transcript.Alternative{Text: strings.TrimSpace(x.Text + " " + y.Text), Score: x.Score + y.Score})
		}
	}
	slices.SortStableFunc(list, func(x, y transcript.Alternative) int { return cmp.Compare(y.Score, x.Score) })
	return list[:min(len(list), max(len(a.Alternatives), len(b.Alternatives)))]
}
