package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// What the package's documentation states of rates.
const (
	rateGroup   = 200 // utterances
	rateLeast   = 20
	rateSpread  = 0.1
	rateOutlier = 5
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
	for _, g := range a.alikeInLength(order) {
		a.judgeGroup(g, &fast, &slow)
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

// rate is letters a second of sound.
func (e *entry) rate() float64 { return float64(e.letters) / e.spoken() }

func (a *audit) judgeGroup(g []int32, fast, slow *group) {
	if len(g) < rateLeast {
		return
	}
	values, away := make([]float64, len(g)), make([]float64, len(g))
	for k, i := range g {
		values[k] = math.Log(a.all[i].rate())
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := quantile(sorted, 0.5)
	for k, v := range values {
		away[k] = math.Abs(v - middle)
	}
	slices.Sort(away)
	spread := max(1.4826*quantile(away, 0.5), rateSpread)
	for k, i := range g {
		e := &a.all[i]
		score := (values[k] - middle) / spread
		if math.Abs(score) < rateOutlier {
			continue
		}
		detail := fmt.Sprintf("%d letters in %.2f s of sound, %.3g a second; others: %.3g", e.letters, e.spoken(), e.rate(), math.Exp(middle))
		if score > 0 {
			fast.add(a.item(int(i), score, "%s", detail))
		} else {
			slow.add(a.item(int(i), -score, "%s", detail))
		}
	}
}
