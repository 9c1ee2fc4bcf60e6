package decode

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseHotwords reads a list of hotwords: one phrase a line, with a boost of its own behind " :" where it has one, in
// nats a character, else boost. A phrase that ends with * is found with any ending. Empty lines say nothing, nor do
// those that begin with #.
//
//	पणजी
//	मडगांव :3.5
//	गोंय*
//
// normalize writes a phrase as the model writes; nil leaves it. A phrase of which it leaves nothing is an error.
func ParseHotwords(list string, boost float64, normalize func(string) string) ([]Hotword, error) {
	if !utf8.ValidString(list) {
		return nil, fmt.Errorf("hotwords: line %d is no UTF-8; save the list as UTF-8", 1+strings.Count(list[:invalid(list)], "\n"))
	}
	var words []Hotword
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(list, "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(words) == mostHotwords {
			return nil, fmt.Errorf("hotwords: line %d is one more than the %d that can be looked for; leave some out", n, mostHotwords)
		}
		w, err := parseHotword(line, boost, normalize)
		if err != nil {
			return nil, fmt.Errorf("hotwords: line %d: %w", n, err)
		}
		w.Line = n
		if err := w.validate(); err != nil {
			return nil, fmt.Errorf("hotwords: %w", err)
		}
		words = append(words, w)
	}
	return words, nil
}

// parseHotword reads a line that is not empty.
func parseHotword(line string, boost float64, normalize func(string) string) (w Hotword, err error) {
	fields := strings.Fields(line)
	w.Boost = boost
	if last, given := strings.CutPrefix(fields[len(fields)-1], ":"); given {
		if w.Boost, err = strconv.ParseFloat(last, 64); err != nil {
			return w, fmt.Errorf("the boost %q is no number; write one as in \"मडगांव :3.5\", or leave it out", last)
		}
		fields = fields[:len(fields)-1]
	}
	phrase := strings.Join(fields, " ")
	if phrase, w.AnyEnding = strings.CutSuffix(phrase, "*"); w.AnyEnding {
		phrase = strings.TrimRight(phrase, " ")
	}
	w.Phrase = phrase
	if normalize != nil {
		w.Phrase = strings.Join(strings.Fields(normalize(phrase)), " ")
	}
	if w.Phrase == "" {
		return w, fmt.Errorf("%q has no phrase: nothing is left of it as the model writes", line)
	}
	return w, nil
}

// invalid is where the first byte stands that is no UTF-8.
func invalid(s string) int {
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			return i
		}
	}
	return len(s)
}
