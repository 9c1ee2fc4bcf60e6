package scores

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"konkanitrain/data/text"
)

// Keys of groups that are no key of a manifest's: the length of an utterance, and who speaks.
const (
	ByLength  = "length"
	BySpeaker = "speaker"
)

// Group is what the utterances with one value of a key came to.
type Group struct {
	Value      string      `json:"value"` // "" of those without one
	Utterances int         `json:"utterances"`
	Seconds    float64     `json:"seconds"`
	Words      text.Counts `json:"words"`
	Chars      text.Counts `json:"chars"`
	WER        float64     `json:"wer"`
	CER        float64     `json:"cer"`
	Intervals  *Intervals  `json:"intervals,omitempty"` // nil of fewer than two utterances

	members []int32 // their places among all utterances
}

// Breakdown is the groups by one key.
type Breakdown struct {
	Key    string  `json:"key"`
	Groups []Group `json:"groups"` // by length from the short ones on, by numbers from the low ones on, else in the order of the values
}

// lengths are where groups by length end, in seconds.
var lengths = []float64{1, 2, 4, 8, 15, 30}

// ofLength is which of these groups an utterance is in, and what the group is called.
func ofLength(seconds float64) (place int, name string) {
	for i, end := range lengths {
		if seconds <= end {
			if i == 0 {
				return 0, fmt.Sprintf("up to %g s", end)
			}
			return i, fmt.Sprintf("%g to %g s", lengths[i-1], end)
		}
	}
	last := lengths[len(lengths)-1]
	return len(lengths), fmt.Sprintf("over %g s", last)
}

// grouping sorts utterances into groups.
type grouping struct {
	key    string
	groups map[string]*Group
	places map[string]int // of groups by length
}

func newGrouping(key string) *grouping {
	return &grouping{key, map[string]*Group{}, map[string]int{}}
}

// add counts utterance i; value is that of its manifest.
func (g *grouping) add(i int, u *Utterance, value string) {
	switch g.key {
	case ByLength:
		var place int
		place, value = ofLength(u.Seconds)
		g.places[value] = place
	case BySpeaker:
		value = u.Speaker
	}
	one := g.groups[value]
	if one == nil {
		one = &Group{Value: value}
		g.groups[value] = one
	}
	one.Utterances++
	one.Seconds += u.Seconds
	one.Words.Add(u.Words)
	one.Chars.Add(u.Chars)
	one.members = append(one.members, int32(i))
}

// breakdown is the groups with their intervals, of these utterances.
func (g *grouping) breakdown(s Sampling, all []scored) Breakdown {
	b := Breakdown{Key: g.key, Groups: []Group{}}
	for _, values := range g.parts(slices.SortedFunc(maps.Keys(g.groups), g.compare)) {
		one := *g.groups[values[0]]
		for _, value := range values[1:] {
			one.merge(g.groups[value])
		}
		if last := values[len(values)-1]; last != values[0] {
			one.Value += " to " + last
		}
		one.WER, one.CER, one.Intervals = one.Words.Rate(), one.Chars.Rate(), s.intervals(one.outcomes(all))
		b.Groups = append(b.Groups, one)
	}
	return b
}

// merge adds the utterances of another group.
func (g *Group) merge(o *Group) {
	g.Utterances += o.Utterances
	g.Seconds += o.Seconds
	g.Words.Add(o.Words)
	g.Chars.Add(o.Chars)
	g.members = slices.Concat(g.members, o.members)
}

// outcomes are those of its utterances.
func (g *Group) outcomes(all []scored) []outcome {
	list := make([]outcome, len(g.members))
	for k, i := range g.members {
		list[k] = all[i].outcome
	}
	return list
}

// Of numbers with more different values than mostNumbers, quarters make groups.
const (
	mostNumbers = 10
	quarters    = 4
)

// parts says which values, which are in order, make a group together: each alone, but of many numbers those of a
// quarter of the utterances.
func (g *grouping) parts(values []string) (parts [][]string) {
	numbers, sum := 0, 0
	for _, value := range values {
		if _, is := number(value); is {
			numbers++
			sum += g.groups[value].Utterances
		}
	}
	together := numbers > mostNumbers && (numbers == len(values) || numbers == len(values)-1 && values[numbers] == "")
	before, quarter := 0, -1
	for _, value := range values {
		n := g.groups[value].Utterances
		if !together || value == "" {
			parts = append(parts, []string{value})
			continue
		}
		if q := before * quarters / sum; q != quarter {
			quarter, parts = q, append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], value)
		before += n
	}
	return parts
}

// number is the number that a value is.
func number(value string) (float64, bool) {
	x, err := strconv.ParseFloat(value, 64)
	return x, err == nil && !math.IsNaN(x)
}

// compare is the order of two values: numbers first, and what has none last.
func (g *grouping) compare(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(b, a)
	}
	x, isA := number(a)
	y, isB := number(b)
	switch {
	case isA && isB:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case isA:
		return -1
	case isB:
		return 1
	}
	return cmp.Or(cmp.Compare(g.places[a], g.places[b]), cmp.Compare(a, b))
}
