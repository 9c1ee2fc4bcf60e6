package audit

import (
	"cmp"
	"math"
	"slices"

	"konkanitrain/internal/words"
)

// What the package's documentation states of rates.
const (
	rateGroup   = 200 // utterances
	rateLeast   = 20
	rateSpread  = 0.1
	rateOutlier = 5
	rateAmong   = 2 // all of the utterances
)

// judgeRates finds utterances whose text is too long or too short for their sound.
func (a *audit) judgeRates() {
	var order []int32
	for i := range a.all {
		if s := a.all[i].state; a.all[i].letters > 0 && s != allQuiet && s != broken {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(a.all[x].letters, a.all[y].letters), cmp.Compare(x, y))
	})
	var fast, slow group
	all := a.spread(order)
	for _, g := range a.alikeInLength(order) {
		if len(g) >= rateLeast {
			a.judgeGroup(g, all, &fast, &slow)
		}
	}
	a.find("too_fast", Doubt, fast, "%s far more text than others of as many letters have sound for: does the text belong to it?", "utterance has", "utterances have")
	a.find("too_slow", Doubt, slow, "%s far less text than others of as many letters have for so much sound: is something missing?", "utterance has", "utterances have")
}

// alikeInLength cuts utterances in the order of their letters into groups. Those with the same number stay together,
// and what is left at the end goes with the group before.
func (a *audit) alikeInLength(order []int32) (groups [][]int32) {
	for from := 0; from < len(order); {
		to := min(from+rateGroup, len(order))
		for to < len(order) && a.all[order[to]].letters == a.all[order[to-1]].letters {
			to++
		}
		if to-from < rateGroup && len(groups) > 0 {
			last := groups[len(groups)-1]
			groups[len(groups)-1] = order[from-len(last) : to]
		} else {
			groups = append(groups, order[from:to])
		}
		from = to
	}
	return groups
}

// lettersASecond is letters a second of sound.
func (e *entry) lettersASecond() float64 { return float64(e.letters) / e.spoken() }

// spread is the middle of logarithms of rates, and a robust deviation from it.
type spread struct{ middle, deviation float64 }

// spread is that of some utterances.
func (a *audit) spread(order []int32) spread {
	if len(order) == 0 {
		return spread{}
	}
	values := make([]float64, len(order))
	for k, i := range order {
		values[k] = math.Log(a.all[i].lettersASecond())
	}
	slices.Sort(values)
	middle := quantile(values, 0.5)
	for k, v := range values {
		values[k] = math.Abs(v - middle)
	}
	slices.Sort(values)
	return spread{middle, max(1.4826*quantile(values, 0.5), rateSpread)}
}

// of is how many deviations a rate lies over the middle.
func (s spread) of(rate float64) float64 { return (math.Log(rate) - s.middle) / s.deviation }

// judgeGroup finds outliers among utterances of about as many letters.
func (a *audit) judgeGroup(g []int32, all spread, fast, slow *group) {
	alike := a.spread(g)
	for _, i := range g {
		e := &a.all[i]
		here, among := alike.of(e.lettersASecond()), all.of(e.lettersASecond())
		g := fast
		switch {
		case here >= rateOutlier && among >= rateAmong:
		case here <= -rateOutlier && among <= -rateAmong:
			g = slow
		default:
			continue
		}
		g.add(a.item(int(i), math.Abs(here), "%s in %.2f s of sound, %.3g a second; others: %.3g",
			words.Count(int(e.letters), "letter"), e.spoken(), e.lettersASecond(), math.Exp(alike.middle)))
	}
}
