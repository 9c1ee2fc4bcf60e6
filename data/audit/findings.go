package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// group collects what one finding is about.
type group struct {
	count int
	items []Item
}

// add keeps an item, of many the worst.
func (g *group) add(i Item) {
	g.count++
	g.items = append(g.items, i)
	if len(g.items) >= 2*MostItems {
		g.trim()
	}
}

// trim puts the worst first, equal ones in the order of the lists, and forgets what is too much.
func (g *group) trim() {
	slices.SortStableFunc(g.items, func(x, y Item) int { return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.at, y.at)) })
	if len(g.items) > MostItems {
		clear(g.items[MostItems:])
		g.items = g.items[:MostItems]
	}
}

// find reports a group, unless it is empty. In the title %s is the number with a noun and a verb, for one and for many.
func (a *audit) find(kind string, grade Grade, g group, title, one, many string) {
	if g.count == 0 {
		return
	}
	g.trim()
	for k := range g.items {
		a.fill(&g.items[k])
	}
	noun := many
	if g.count == 1 {
		noun = one
	}
	a.report.Findings = append(a.report.Findings, Finding{
		Kind: kind, Grade: grade, Count: g.count, Title: strings.Replace(title, "%s", fmt.Sprintf("%d %s", g.count, noun), 1), Items: append([]Item{}, g.items...),
	})
}

// gravity orders the kinds of findings within a grade.
var gravity = []string{
	"bad_lines", "unreadable", "same_sound_other_text", "near_sound_other_text", "sound_in_both", "silent", "damaged_text",
	"too_fast", "too_slow", "too_short_for_ctc", "left_out", "same_sound", "near_sound", "speaker_in_both", "text_in_both",
	"steady", "clipped", "long_silence", "quiet", "offset",
	"mixed_scripts", "lookalikes", "lone_marks", "unseen_characters", "rare_characters", "other_scripts", "two_digits", "low_rate", "doubtful",
}

func byGravity(x, y Finding) int {
	grades := []Grade{Fault, Doubt, Remark}
	return cmp.Or(cmp.Compare(slices.Index(grades, x.Grade), slices.Index(grades, y.Grade)),
		cmp.Compare(slices.Index(gravity, x.Kind), slices.Index(gravity, y.Kind)))
}
