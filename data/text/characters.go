package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// characters is a set of characters.
type characters struct {
	ascii  [utf8.RuneSelf]bool
	ranges []span // sorted, apart from each other
}

// span is a range of code points, both ends included.
type span struct{ low, high rune }

// ParseCharacters reads a set of characters: "a-z ' U+0900-U+097F". White space separates; - between two characters is
// a range, at an end it stands for itself; U+ with four to six hexadecimal digits is a code point. The set has the
// space in any case.
func ParseCharacters(text string) error {
	_, err := parseCharacters(text)
	return err
}

func parseCharacters(text string) (*characters, error) {
	c := &characters{}
	for item := range strings.FieldsSeq(text) {
		for rest := item; rest != ""; {
			low, after, err := character(rest)
			high := low
			switch {
			case err == nil && len(after) > 1 && after[0] == '-':
				high, after, err = character(after[1:])
			case err == nil && after == "-" && strings.HasPrefix(rest, "U+"):
				err = fmt.Errorf("%s is a range without an end", rest)
			}
			if err == nil && high < low {
				err = fmt.Errorf("%s ends before it begins", strings.TrimSuffix(rest, after))
			}
			if err != nil {
				return nil, fmt.Errorf("allowed_characters: %q: %w; write characters and ranges, as in \"a-z ' U+0900-U+097F\"", item, err)
			}
			c.ranges = append(c.ranges, span{low, high})
			rest = after
		}
	}
	if len(c.ranges) == 0 {
		return nil, fmt.Errorf("allowed_characters %q has no character; leave it out to allow all", text)
	}
	c.settle()
	return c, nil
}

// character reads one from the start of s.
func character(s string) (r rune, rest string, err error) {
	if hex, ok := strings.CutPrefix(s, "U+"); ok {
		n := 0
		for n < len(hex) && strings.IndexByte("0123456789abcdefABCDEF", hex[n]) >= 0 {
			n++
		}
		code, err := strconv.ParseUint(hex[:n], 16, 32)
		if n < 4 || n > 6 || err != nil || !utf8.ValidRune(rune(code)) {
			return 0, s, fmt.Errorf("U+%s is no code point", hex[:n])
		}
		return rune(code), hex[n:], nil
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size < 2 {
		return r, s, fmt.Errorf("it is not UTF-8")
	}
	return r, s[size:], nil
}

// settle sorts the ranges and joins those that meet.
func (c *characters) settle() {
	slices.SortFunc(c.ranges, func(a, b span) int { return int(a.low - b.low) })
	apart := c.ranges[:1]
	for _, s := range c.ranges[1:] {
		if last := &apart[len(apart)-1]; s.low <= last.high+1 {
			last.high = max(last.high, s.high)
		} else {
			apart = append(apart, s)
		}
	}
	c.ranges = apart
	c.ascii[' '] = true
	for _, s := range c.ranges {
		for r := s.low; r <= s.high && r < utf8.RuneSelf; r++ {
			c.ascii[r] = true
		}
	}
}

func (c *characters) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r]
	}
	_, ok := slices.BinarySearchFunc(c.ranges, r, func(s span, r rune) int {
		switch {
		case s.high < r:
			return -1
		case s.low > r:
			return 1
		}
		return 0
	})
	return ok
}

// keep drops what is not in the set.
func (c *characters) keep(s string, changed func(Rule, rune)) string {
	if strings.IndexFunc(s, func(r rune) bool { return !c.has(r) }) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if c.has(r) {
			b.WriteRune(r)
			continue
		}
		changed(AllowedCharacters, r)
		if isPunctuation(r) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// parsed holds the sets that were read, by their text: a run has one, and asks for it with each transcript.
var parsed sync.Map

// charactersOf is the set of a policy: nil, all characters, for "" and for a text that is none, which is refused where
// settings are read.
func charactersOf(text string) *characters {
	if text == "" {
		return nil
	}
	if c, ok := parsed.Load(text); ok {
		return c.(*characters)
	}
	c, _ := parseCharacters(text)
	parsed.Store(text, c)
	return c
}
