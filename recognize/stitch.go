package recognize

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"konkanitrain/recognize/transcript"
)

// Two pieces that overlap were heard apart. Each is unsure of what was said at its own edge, where a word may be cut
// off, and sure of it further in. So their characters in the overlap are aligned, and one place is chosen where the
// piece before ends and the other takes over: near the middle, where both say the same on either side, and where both
// say nothing for a while, as the blank is the likeliest there; between two words if that can be.

// What a place for the join counts.
const (
	jitter   = 0.3 // seconds that the same character may be apart in two pieces
	longGap  = 0.4 // seconds without a character that are as good as any
	ofGap    = 1.0 // such a gap
	ofAgree  = 0.7 // a character that both have, before and after each
	ofWords  = 0.8 // it is between two words in both
	ofMiddle = 1.0 // the middle of the overlap, and less to nothing at its ends
	ofWhole  = 5.0 // no letter loses its signs there: more than all else
)

// letter is a character of a segment.
type letter struct {
	transcript.Unit
	word   int // its place among the segment's words
	begins bool
}

// center is the middle of its time, in seconds.
func (l *letter) center() float64 { return (l.Start + l.End) / 2 }

// spelled are a segment's characters with the words that they are in.
func spelled(s *transcript.Segment) []letter {
	list := make([]letter, len(s.Characters))
	word := -1
	for i, c := range s.Characters {
		begins := word < 0 || word+1 < len(s.Words) && c.Start >= s.Words[word+1].Start
		if begins {
			word++
		}
		list[i] = letter{c, word, begins}
	}
	return list
}

// pair is a place in the alignment of two lists: numbers of letters, -1 where one list has none.
type pair struct{ a, b int }

// aligned aligns two lists with the fewest differences; the same character counts as different that is too far away.
func aligned(a, b []letter) []pair {
	width := len(b) + 1
	cost := make([]float64, (len(a)+1)*width)
	for i := range len(a) + 1 {
		for j := range width {
			c := math.Inf(1)
			if i == 0 && j == 0 {
				c = 0
			}
			if i > 0 {
				c = min(c, cost[(i-1)*width+j]+1)
			}
			if j > 0 {
				c = min(c, cost[i*width+j-1]+1)
			}
			if i > 0 && j > 0 {
				c = min(c, cost[(i-1)*width+j-1]+unlike(&a[i-1], &b[j-1]))
			}
			cost[i*width+j] = c
		}
	}
	var back []pair
	for i, j := len(a), len(b); i > 0 || j > 0; {
		switch c := cost[i*width+j]; {
		case i > 0 && j > 0 && c == cost[(i-1)*width+j-1]+unlike(&a[i-1], &b[j-1]):
			i, j = i-1, j-1
			back = append(back, pair{i, j})
		case i > 0 && c == cost[(i-1)*width+j]+1:
			i--
			back = append(back, pair{i, -1})
		default:
			j--
			back = append(back, pair{-1, j})
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// unlike is 0 for the same character at about the same time, and else more than leaving both out, less a little where
// they are at the same time: a difference.
func unlike(a, b *letter) float64 {
	d := math.Abs(a.center() - b.center())
	switch {
	case d > jitter:
		return math.Inf(1)
	case a.Text == b.Text:
		return 0.1 * d
	}
	return 1.5 + d
}

// stitch joins two segments that were heard of pieces which share the time between two moments, in seconds: what of
// each is left beside the other. Both need their characters and words.
func stitch(a, b transcript.Segment, from, to float64) (left, right transcript.Segment) {
	x, y := spelled(&a), spelled(&b)
	first, last := 0, len(y) // x[first:] and y[:last] are in the overlap
	for first < len(x) && x[first].center() < from {
		first++
	}
	for last > 0 && y[last-1].center() > to {
		last--
	}
	columns := aligned(x[first:], y[:last])
	j := joint{x: x, y: y, first: first, columns: columns, from: from, to: to}
	best, ends, begins, at := math.Inf(-1), 0, 0, 0.0
	i, k := first, 0 // letters before the place
	for n := 0; ; n++ {
		if score, t := j.score(n, i, k); score > best {
			best, ends, begins, at = score, i, k, t
		}
		if n == len(columns) {
			break
		}
		if columns[n].a >= 0 {
			i++
		}
		if columns[n].b >= 0 {
			k++
		}
	}
	left, right = part(a, x, 0, ends), part(b, y, begins, len(y))
	cut, between := left.Text, "" // of a's text, and what of a word is said behind it
	if ends > 0 && begins < len(y) && !y[begins].begins && ends < len(x) && !x[ends].begins {
		between = right.Words[0].Text
		rejoin(&left, &right) // in the middle of a word
		at = max(at, left.Words[len(left.Words)-1].End)
	}
	left.End, right.Start = at, at
	left.Alternatives = cutAll(a, len(cut), func(before, _ string) string { return before + between }, left.Text)
	right.Alternatives = cutAll(b, len(b.Text)-len(right.Text), func(_, behind string) string { return behind }, right.Text)
	return left, right
}

// joint is where two pieces may be joined.
type joint struct {
	x, y     []letter
	first    int // of x in the overlap
	columns  []pair
	from, to float64
}

// score rates the place before a column of the alignment, with i letters of x and k of y before it, and says when it
// is.
func (j *joint) score(n, i, k int) (score, at float64) {
	before, after := j.from, j.to // what neither says anything in
	words := true
	if i > 0 {
		before = max(before, j.x[i-1].End)
	}
	if k > 0 {
		before = max(before, j.y[k-1].End)
	}
	if i < len(j.x) {
		after = min(after, j.x[i].Start)
		words = words && j.x[i].begins
	}
	if k < len(j.y) {
		after = min(after, j.y[k].Start)
		words = words && j.y[k].begins
	}
	at = min(max((before+after)/2, j.from), j.to)
	score = ofGap * min(max(after-before, 0), longGap) / longGap
	if j.agree(n - 1) {
		score += ofAgree
	}
	if j.agree(n) {
		score += ofAgree
	}
	if words {
		score += ofWords
	}
	if j.agree(n-1) && j.agree(n) || !within(j.x, i) && !within(j.y, k) {
		score += ofWhole
	}
	half := (j.to - j.from) / 2
	return score + ofMiddle*(1-math.Abs(at-j.from-half)/max(half, 1e-9)), at
}

// within says whether the place before a letter is in the middle of what is written as one: before a vowel sign, or
// behind a joiner or a virama (of Indian scripts), on which the next consonant hangs.
func within(list []letter, i int) bool {
	if i == 0 || i == len(list) || list[i].begins {
		return false
	}
	next, _ := utf8.DecodeRuneInString(list[i].Text)
	last, _ := utf8.DecodeLastRuneInString(list[i-1].Text)
	return unicode.IsMark(next) || virama(last) || last == '\u200d'
}

// virama says whether r takes the vowel from a consonant: it has the same place in the block of each script of India.
func virama(r rune) bool { return r >= 0x900 && r < 0xd80 && r&0x7f == 0x4d }

// agree says whether both pieces have the same letter in a column; outside the overlap there is nothing to disagree on.
func (j *joint) agree(n int) bool {
	if n < 0 || n >= len(j.columns) {
		return false
	}
	p := j.columns[n]
	return p.a >= 0 && p.b >= 0 && j.x[j.first+p.a].Text == j.y[p.b].Text
}

// part is the letters of a segment from one up to another, and the words of these. A word that is whole stays what it
// is; of one that is cut the letters are left.
func part(s transcript.Segment, list []letter, from, to int) transcript.Segment {
	out := transcript.Segment{Start: s.Start, End: s.End}
	whole := map[int]int{} // letters of each word
	for _, l := range list {
		whole[l.word]++
	}
	for i := from; i < to; {
		n := i
		text := ""
		for n < to && list[n].word == list[i].word {
			out.Characters = append(out.Characters, list[n].Unit)
			text += list[n].Text
			n++
		}
		if w := s.Words[min(list[i].word, len(s.Words)-1)]; n-i == whole[list[i].word] {
			out.Words = append(out.Words, w)
		} else {
			out.Words = append(out.Words, transcript.Unit{Text: text, Start: list[i].Start, End: list[n-1].End, Confidence: w.Confidence})
		}
		i = n
	}
	out.Text = sentence(out.Words)
	return out
}

// rejoin puts the first word of right at the end of the last of left: they are two parts of one.
func rejoin(left, right *transcript.Segment) {
	if len(left.Words) == 0 || len(right.Words) == 0 {
		return
	}
	w, rest := &left.Words[len(left.Words)-1], right.Words[0]
	w.Text, w.End, w.Confidence = w.Text+rest.Text, rest.End, min(w.Confidence, rest.Confidence)
	n := 0
	for n < len(right.Characters) && right.Characters[n].Start < rest.End {
		n++
	}
	left.Characters, right.Characters = append(left.Characters, right.Characters[:n]...), right.Characters[n:]
	right.Words = right.Words[1:]
	left.Text, right.Text = sentence(left.Words), sentence(right.Words)
}

// sentence is the text of words.
func sentence(list []transcript.Unit) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}
