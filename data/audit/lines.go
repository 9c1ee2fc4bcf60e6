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
				found[kind] = &lineGroup{counts: map[data.Kind]int{}, lines: map[lineOf]int{}, kinds: map[kindOfLine]bool{}}
			}
			reason := strings.TrimPrefix(n.Reason, n.ID+": ")
			item := Item{Set: p.Set.Path, File: n.File, Line: n.Line, ID: n.ID, Detail: reason, at: n.Line}
			if i := a.noted[Place{n.File, n.Line}]; i >= 0 {
				item = a.item(i, 0, "%s", reason)
			}
			found[kind].note(item, n.Kind, lineOf{p.Set.Path, n.File, n.Line, n.ID})
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
			for _, i := range g.noted {
				g.add(i)
			}
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

// lineGroup is a group of lines with the kinds of notes about them.
type lineGroup struct {
	group
	noted  []Item         // the lines
	lines  map[lineOf]int // where each is among them
	kinds  map[kindOfLine]bool
	counts map[data.Kind]int // of lines
	order  []data.Kind
}

// lineOf is a line of a set, or one of several utterances that share it.
type lineOf struct {
	set, file string
	line      int
	id        string
}

type kindOfLine struct {
	kind data.Kind
	line lineOf
}

// note adds a note about a line. A line with several is one item.
func (g *lineGroup) note(i Item, kind data.Kind, line lineOf) {
	i.Detail = string(kind) + ": " + i.Detail
	if k := (kindOfLine{kind, line}); !g.kinds[k] {
		g.kinds[k] = true
		if g.counts[kind]++; g.counts[kind] == 1 {
			g.order = append(g.order, kind)
		}
	}
	if at, again := g.lines[line]; again {
		g.noted[at].Detail += "; " + i.Detail
		return
	}
	g.lines[line] = len(g.noted)
	g.noted = append(g.noted, i)
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
