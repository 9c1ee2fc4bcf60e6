package settings

import (
	"slices"
	"strings"
)

// Nearest is the candidate that name was probably meant to be, "" if none is near. Near is a candidate at an edit
// distance of a third of its letters or less, one with all the words of name or the other way round (warmup,
// warmup_updates), and one whose words begin with the letters of name (lr, learning_rate). Of the latter two kinds the
// last comes first, and then what begins with name.
func Nearest(name string, candidates []string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	best, bestDistance := "", 0
	consider := func(c string, distance int) {
		if best == "" || distance < bestDistance {
			best, bestDistance = c, distance
		}
	}
	for _, c := range candidates {
		if d := distance(name, c); d <= max(1, len(c)/3) {
			consider(c, d)
		}
	}
	if best != "" || name == "" {
		return best
	}
	words := strings.Split(name, "_")
	for _, c := range candidates {
		parts := strings.Split(c, "_")
		switch {
		case initials(parts) == name:
			consider(c, -2)
		case strings.HasPrefix(c, name+"_"):
			consider(c, -1)
		case within(words, parts) || within(parts, words):
			consider(c, distance(name, c))
		}
	}
	return best
}

// within holds if every word of a is one of b, a plural s aside.
func within(a, b []string) bool {
	for _, w := range a {
		if !slices.ContainsFunc(b, func(v string) bool { return strings.TrimSuffix(v, "s") == strings.TrimSuffix(w, "s") }) {
			return false
		}
	}
	return true
}

func initials(words []string) string {
	var s strings.Builder
	for _, w := range words {
		s.WriteString(w[:min(1, len(w))])
	}
	return s.String()
}

// distance is the least number of letters changed, left out or put in (Levenshtein), with two neighbors
// in each other's place as one change (optimal string alignment).
func distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
