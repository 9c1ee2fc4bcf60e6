// Package patterns says which parts of a network a setting is meant for, by names with dots such as
// encoder.blocks.0.attn: a pattern is the names, or the first of them, that a part's name begins with, and * in it
// stands for any one name between dots. encoder.blocks.*.attn is the attention of every block, and encoder all of it.
package patterns

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// wild is what stands for any one name.
const wild = "*"

// Match says whether a name begins with what a pattern says, up to its end or to a dot.
func Match(pattern, name string) bool {
	for {
		part, rest, more := strings.Cut(pattern, ".")
		own, below, deeper := strings.Cut(name, ".")
		switch {
		case part == "" || part != wild && part != own:
			return false
		case !more:
			return true
		case !deeper:
			return false
		}
		pattern, name = rest, below
	}
}

// Rule gives the parts that a pattern matches a value.
type Rule struct {
	Pattern string
	Value   float64
}

// Rules are several. Of those that match a name the one of the longest pattern holds, and of equally long ones that
// which has a name where the other has *, at the first place where they differ so.
type Rules []Rule

// Of is the value of the rule that holds for a name; ok is false where none matches.
func (r Rules) Of(name string) (value float64, ok bool) {
	var best []string
	for _, x := range r {
		if parts := strings.Split(x.Pattern, "."); Match(x.Pattern, name) && (!ok || closer(parts, best)) {
			value, best, ok = x.Value, parts, true
		}
	}
	return value, ok
}

// closer says whether pattern a says more than b, where both match one name.
func closer(a, b []string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	for i := range a {
		if a[i] != b[i] {
			return b[i] == wild
		}
	}
	return false
}

// Parse reads rules, each PATTERN=NUMBER, of the setting called key; number is what it calls the numbers. The error
// says which text is no rule, and what would be one, such as example; the rules are those before it.
func Parse(key, number, example string, list []string) (rules Rules, err error) {
	for _, text := range list {
		pattern, value, ok := strings.Cut(text, "=")
		v, wrong := strconv.ParseFloat(value, 64)
		switch {
		case !ok || pattern == "":
			return rules, fmt.Errorf("%s %q: write PATTERN=%s, such as %s", key, text, strings.ToUpper(number), example)
		case wrong != nil || math.IsInf(v, 0) || math.IsNaN(v):
			return rules, fmt.Errorf("%s %q: %q is no %s: want a number", key, text, value, number)
		}
		for _, r := range rules {
			if r.Pattern == pattern && r.Value != v {
				return rules, fmt.Errorf("%s gives %s two values, %g and %g: give one", key, pattern, r.Value, v)
			}
		}
		rules = append(rules, Rule{pattern, v})
	}
	return rules, nil
}
