package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"konkanitrain/data/text/sentencepiece"
	"konkanitrain/internal/words"
)

// Unknown counts characters outside a vocabulary. The zero value is ready for use. Letters are all characters
// but the space; combining marks are among them.
type Unknown struct {
	Letters int // letters seen
	Outside int // letters not in the vocabulary
	counts  map[rune]int
}

func (u *Unknown) add(r rune, known bool) {
	if r != ' ' {
		u.Letters++
	}
	if known {
		return
	}
	if r != ' ' {
		u.Outside++
	}
	if u.counts == nil {
		u.counts = map[rune]int{}
	}
	u.counts[r]++
}

// outside counts the characters of a text that no token can write, and that are counted as letters already.
func (u *Unknown) outside(s string) {
	for _, r := range s {
		if string(r) == sentencepiece.Space {
			continue
		}
		u.Letters--
		u.add(r, false)
	}
}

// Share is the part of the letters that is outside the vocabulary, 0 to 1.
func (u *Unknown) Share() float64 {
	if u.Letters == 0 {
		return 0
	}
	return float64(u.Outside) / float64(u.Letters)
}

// Top lists the n most frequent characters outside the vocabulary (all if n <= 0), the most frequent first,
// equal counts in code point order.
func (u *Unknown) Top(n int) []CharCount {
	runes := make([]rune, 0, len(u.counts))
	for r := range u.counts {
		runes = append(runes, r)
	}
	slices.SortFunc(runes, func(a, b rune) int {
		return cmp.Or(cmp.Compare(u.counts[b], u.counts[a]), cmp.Compare(a, b))
	})
	if n > 0 {
		runes = runes[:min(n, len(runes))]
	}
	out := make([]CharCount, len(runes))
	for i, r := range runes {
		out[i] = CharCount{string(r), u.counts[r]}
	}
	return out
}

// String is one line: share, numbers, the ten most frequent characters, and the space, which is no letter.
func (u *Unknown) String() string {
	if len(u.counts) == 0 {
		return fmt.Sprintf("0 of %d letters are outside the vocabulary", u.Letters)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d letters (%.2f %%) are outside the vocabulary", u.Outside, u.Letters, 100*u.Share())
	var outside []string
	for _, c := range u.Top(0) {
		if c.Char != " " {
			outside = append(outside, fmt.Sprintf("%q x %d", c.Char, c.Count))
		}
	}
	if len(outside) > 0 {
		b.WriteString(": " + words.List(outside, 10))
	}
	if n := u.counts[' ']; n > 0 {
		fmt.Fprintf(&b, "; so is the space, x %d", n)
	}
	return b.String()
}
