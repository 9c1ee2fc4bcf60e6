package audit

import (
	"fmt"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/words"
)

// judgeLines tells what the reports of the sets say of their lines.
func (a *audit) judgeLines() {
	found := map[string]*lineGroup{}
	for _, p := range a.sets {
		for k := range p.Set.Report.Notes {
			n := &p.Set.Report.Notes[k]
			kind := kindOf(n)
			if found[kind] == nil {
				found[kind] = &lineGroup{counts: map[data.Kind]int{}}
			}
			reason := strings.TrimPrefix(n.Reason, n.ID+": ")
			item := Item{Set: p.Set.Path, File: n.File, Line: n.Line, ID: n.ID, Detail: reason, at: n.Line}
			if i := a.noted[Place{n.File, n.Line}]; i >= 0 {
				item = a.item(i, 0, "%s", reason)
			}
			found[kind].note(item, n.Kind)
		}
		for kind, skipped := range p.Set.Report.Sorts() {
			n, more := data.Note{Kind: kind, Skipped: skipped}, p.Set.Report.Unkept(kind, skipped)
			if more > 0 {
				found[kindOf(&n)].count += more
				found[kindOf(&n)].counts[kind] += more
			}
		}
	}
	for _, f := range []struct {
		kind      string
		grade     Grade
		title     string
		one, many string
	}{
		{"bad_lines", Fault, "%s no sound that can be used", "line has", "lines have"},
		{"too_short_for_ctc", Doubt, "%s more text than CTC can align with the frames that subsampling leaves", "utterance has", "utterances have"},
		{"left_out", Doubt, "%s left out of training", "line is", "lines are"},
		{"doubtful", Remark, "%s doubtful, and used", "line is", "lines are"},
	} {
		if g := found[f.kind]; g != nil {
			a.find(f.kind, f.grade, g.group, f.title+g.reasons(f.kind), f.one, f.many)
		}
	}
}

// kindOf is the finding that a note belongs to.
func kindOf(n *data.Note) string {
	switch {
	case n.Kind.Bad():
		return "bad_lines"
	case n.Kind == data.CTCTooShort:
		return "too_short_for_ctc"
	case n.Skipped:
		return "left_out"
	}
	return "doubtful"
}

// findNoted lists the lines that there are notes about, to find their entries.
func (a *audit) findNoted() {
	a.noted = map[Place]int{}
	for _, p := range a.sets {
		for k := range p.Set.Report.Notes {
			a.noted[Place{p.Set.Report.Notes[k].File, p.Set.Report.Notes[k].Line}] = -1
		}
	}
}

// lineGroup is a group with the kinds of notes in it.
type lineGroup struct {
	group
	counts map[data.Kind]int
	order  []data.Kind
}

func (g *lineGroup) note(i Item, kind data.Kind) {
	if g.counts[kind]++; g.counts[kind] == 1 {
		g.order = append(g.order, kind)
	}
	i.Detail = string(kind) + ": " + i.Detail
	g.add(i)
}

// reasons counts the kinds of notes, where the finding's title doesn't say what it is.
func (g *lineGroup) reasons(finding string) string {
	if finding == "too_short_for_ctc" {
		for k := range g.items {
			g.items[k].Detail = strings.TrimPrefix(g.items[k].Detail, string(data.CTCTooShort)+": ")
		}
		return ""
	}
	var all []string
	for _, k := range g.order {
		all = append(all, fmt.Sprintf("%d %s", g.counts[k], k))
	}
	return ": " + words.List(all, len(all))
}
