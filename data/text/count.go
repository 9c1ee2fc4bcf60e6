package text

import (
	"cmp"
	"iter"
	"slices"
)

// CharCount is a character and how often it was seen.
type CharCount struct {
	Char  string
	Count int
}

// CountCharacters counts the characters of texts, and lists them in code point order.
func CountCharacters(texts iter.Seq[string]) []CharCount {
	var near [0x2000]int // most scripts' characters: an array is faster than a map
	far := map[rune]int{}
	for s := range texts {
		for _, r := range s {
			if int(r) < len(near) {
				near[r]++
			} else {
				far[r]++
			}
		}
	}
	for r, n := range near {
		if n > 0 {
			far[rune(r)] = n
		}
	}
	list := make([]CharCount, 0, len(far))
	for r, n := range far {
		list = append(list, CharCount{string(r), n})
	}
	slices.SortFunc(list, func(a, b CharCount) int { return cmp.Compare(a.Char, b.Char) }) // UTF-8 has the order of code points
	return list
}
