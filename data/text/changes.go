package text

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode"

	"konkanitrain/internal/words"
)

// Rule is one of a policy's, by the name of its setting.
type Rule string

// The rules that change characters, in the order in which they are applied.
const (
	Joiners           Rule = "keep_joiners"
	FoldDigits        Rule = "fold_digits"
	LowerCase         Rule = "lower_case"
	RemovePunctuation Rule = "remove_punctuation"
	AllowedCharacters Rule = "allowed_characters"
)

// rules are all, each with what it does to characters.
var rules = []struct {
	Rule
	does string
}{
	{Joiners, "removed (without keep_joiners)"}, {FoldDigits, "folded"}, {LowerCase, "in lower case now"},
	{RemovePunctuation, "removed"}, {AllowedCharacters, "removed"},
}

// Place is a line of a file.
type Place struct {
	File string
	Line int
}

// Changes counts what the rules of a policy have changed, by rule and character. The zero value is ready for use.
type Changes struct {
	texts map[Rule]int // with such a character
	chars map[Edit]*Change
}

// Change is what became of one character.
type Change struct {
	Rule  Rule    `json:"rule"`
	Char  string  `json:"char"`
	Count int     `json:"count"`
	First []Place `json:"first"` // the first places where it was changed, a few
}

// placesKept is how many places of a change are remembered.
const placesKept = 3

// Edit is one character that a rule changed.
type Edit struct {
	Rule Rule
	Char rune
}

// Rewrite is Normalize, and lists what the rules have changed.
func (p Policy) Rewrite(s string) (string, []Edit) {
	var edits []Edit
	s = p.normalize(s, func(rule Rule, r rune) { edits = append(edits, Edit{rule, r}) })
	return s, edits
}

// Add counts what was changed in the text at a place.
func (c *Changes) Add(edits []Edit, at Place) {
	if len(edits) > 0 && c.chars == nil {
		c.texts, c.chars = map[Rule]int{}, map[Edit]*Change{}
	}
	var seen [8]Rule
	before := seen[:0]
	for _, e := range edits {
		if !slices.Contains(before, e.Rule) {
			before = append(before, e.Rule)
			c.texts[e.Rule]++
		}
		x := c.chars[e]
		if x == nil {
			x = &Change{Rule: e.Rule, Char: string(e.Char)}
			c.chars[e] = x
		}
		x.Count++
		if n := len(x.First); n < placesKept && (n == 0 || x.First[n-1] != at) {
			x.First = append(x.First, at)
		}
	}
}

// List is every change, rule by rule, the most frequent characters first.
func (c *Changes) List() []Change {
	var list []Change
	for _, r := range rules {
		from := len(list)
		for key, x := range c.chars {
			if key.Rule == r.Rule {
				list = append(list, *x)
			}
		}
		slices.SortFunc(list[from:], func(a, b Change) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Char, b.Char))
		})
	}
	return list
}

// Lines is a line for each rule that has changed something: how much, and its most frequent characters, each with the
// first place where it was, in the words of where.
func (c *Changes) Lines(where func(Place) string) (lines []string) {
	list := c.List()
	for _, r := range rules {
		total := 0
		var some []string
		for _, x := range list {
			if x.Rule == r.Rule {
				total += x.Count
				some = append(some, fmt.Sprintf("%s x %d (%s)", Show(x.Char), x.Count, where(x.First[0])))
			}
		}
		if total > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s in %s %s: %s", r.Rule, words.Count(total, "character"),
				words.Count(c.texts[r.Rule], "text"), r.does, words.List(some, 8)))
		}
	}
	return lines
}

// Show writes a character or a token so that it can be read: quoted, with its code point where it has no shape, a
// combining mark at its start under the sign for a letter, ◌.
func Show(s string) string {
	r := []rune(s)
	switch {
	case len(r) > 0 && unicode.Is(unicode.M, r[0]):
		return strconv.QuoteToGraphic("◌" + s)
	case len(r) == 1 && !unicode.IsPrint(r[0]):
		return fmt.Sprintf("U+%04X", r[0])
	}
	return strconv.QuoteToGraphic(s)
}
