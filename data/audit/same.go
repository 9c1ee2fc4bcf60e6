package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// findSame finds sounds that are equal to the last sample.
func (a *audit) findSame(context.Context) error {
	var other, same group
	for _, g := range runs(a.soundOrder(), func(x, y int32) bool { return a.all[x].hash == a.all[y].hash }) {
		first := int(g[0])
		for _, i := range g[1:] {
			e := &a.all[i]
			switch {
			case e.text != a.all[first].text:
				other.add(a.item(int(i), 0, "the same sound as %s, where the text is %q", a.where(first), short(a.text(first))))
			case a.held(e) == a.held(&a.all[first]): // else it is in training and held out
				same.add(a.item(int(i), 0, "the same sound as %s", a.where(first)))
			}
		}
	}
	a.find("same_sound_other_text", Fault, other, "%s the same sound as another line, with a different text: one of the two is wrong", "utterance has", "utterances have")
	a.find("same_sound", Doubt, same, "%s the same sound and text as another line", "utterance has", "utterances have")
	return nil
}

// What the package's documentation states of sounds that are nearly the same.
const (
	nearCorrelation = 0.98
	nearCenter      = 0.002
	nearLevel       = 2   // dB, of a part
	nearLooks       = 200 // sounds of one length that each is compared with at most, by what is known of them
	nearPairs       = 5000
)

// findLike finds sounds that are nearly the same.
func (a *audit) findLike(ctx context.Context) error {
	pairs := a.candidates()
	if len(pairs) > nearPairs {
		a.report.Notes = append(a.report.Notes, fmt.Sprintf("of %d pairs of sounds that may be nearly the same, %d were compared", len(pairs), nearPairs))
		pairs = pairs[:nearPairs]
	}
	likeness := make([]float64, len(pairs))
	err := a.each(ctx, len(pairs), func(i int, h *hearing) {
		likeness[i] = a.correlate(h, int(pairs[i][0]), int(pairs[i][1]))
	})
	if err != nil {
		return err
	}
	var other, same group
	told := map[int32]bool{}
	for i, p := range pairs {
		if !(math.Abs(likeness[i]) >= nearCorrelation) || told[p[1]] {
			continue
		}
		told[p[1]] = true
		first, second := int(p[0]), int(p[1])
		detail := fmt.Sprintf("%.1f dB from the level of %s, and a correlation of %.3f with it",
			tenths(a.all[second].level-a.all[first].level), a.where(first), likeness[i])
		item := a.item(second, math.Abs(likeness[i]), "%s", detail)
		switch {
		case a.all[first].text != a.all[second].text:
			item.Detail += fmt.Sprintf("; the text there is %q", short(a.text(first)))
			other.add(item)
		case a.held(&a.all[first]) != a.held(&a.all[second]):
			a.both.add(item)
		default:
			same.add(item)
		}
	}
	a.find("near_sound_other_text", Fault, other, "%s nearly the same sound as another line, with a different text: one of the two is wrong", "utterance has", "utterances have")
	a.find("near_sound", Doubt, same, "%s nearly the same sound as another line, and its text", "utterance has", "utterances have")
	return nil
}

// candidates are pairs of sounds that may be nearly the same, the earlier one first.
func (a *audit) candidates() (pairs [][2]int32) {
	order := slices.CompactFunc(a.soundOrder(), func(x, y int32) bool { return a.all[x].hash == a.all[y].hash })
	compare := func(x, y int32) int {
		e, f := &a.all[x], &a.all[y]
		return cmp.Or(cmp.Compare(e.rate, f.rate), cmp.Compare(e.samples, f.samples))
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(compare(x, y), cmp.Compare(a.all[x].center, a.all[y].center), cmp.Compare(x, y))
	})
	for i, x := range order {
		for _, y := range order[i+1 : min(i+1+nearLooks, len(order))] {
			if compare(x, y) != 0 || a.all[y].center-a.all[x].center > nearCenter {
				break
			}
			if alike(a.all[x].profile, a.all[y].profile) {
				pairs = append(pairs, [2]int32{min(x, y), max(x, y)})
			}
		}
	}
	slices.SortFunc(pairs, func(p, q [2]int32) int { return cmp.Or(cmp.Compare(p[1], q[1]), cmp.Compare(p[0], q[0])) })
	return pairs
}

func alike(p, q [parts]int8) bool {
	for i := range p {
		if d := p[i] - q[i]; d > nearLevel || d < -nearLevel {
			return false
		}
	}
	return true
}

// correlate is Pearson's correlation of the samples of two utterances, 0 where one of them can't be read.
func (a *audit) correlate(h *hearing, i, j int) float64 {
	x, err := h.read(a.utterance(i))
	if err != nil {
		return 0
	}
	x = slices.Clone(x)
	y, err := h.read(a.utterance(j))
	if err != nil || len(y) != len(x) {
		return 0
	}
	var sx, sy, xx, yy, xy float64
	for k := range x {
		u, v := float64(x[k]), float64(y[k])
		sx, sy = sx+u, sy+v
		xx, yy, xy = xx+u*u, yy+v*v, xy+u*v
	}
	n := float64(len(x))
	return (xy - sx*sy/n) / math.Sqrt((xx-sx*sx/n)*(yy-sy*sy/n))
}

// runs are the stretches of two and more in a row that are equal.
func runs(order []int32, equal func(x, y int32) bool) (all [][]int32) {
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && equal(order[from], order[to]) {
			to++
		}
		if to-from > 1 {
			all = append(all, order[from:to])
		}
		from = to
	}
	return all
}

// short is a text cut to what a message has room for.
func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// tenths rounds to a tenth, and to 0 rather than to -0.
func tenths(v float32) float64 { return math.Round(10*float64(v))/10 + 0 }
