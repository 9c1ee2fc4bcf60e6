package scores

import "strings"

// Rows is a part of an alignment for people, in three lines of equal columns: the reference over the hypothesis, and
// below them S, D and I under what is substituted, deleted and inserted.
type Rows struct{ Ref, Hyp, Marks string }

// Lay lays an alignment out in parts of at most so many columns, cut behind words where they fit. Where a side has
// nothing, there are stars. Columns are those of terminals with a font of fixed width.
func Lay(pairs []Pair, columns int) []Rows {
	var list []Rows
	for len(pairs) > 0 {
		n := fitting(pairs, columns)
		list = append(list, lay(pairs[:n]))
		pairs = pairs[n:]
	}
	return list
}

// fitting is how many pairs fit into the columns, to the end of a word if there is one: one at least.
func fitting(pairs []Pair, columns int) int {
	used, behind := 0, 0
	for i, p := range pairs {
		if used += p.width(); used > columns {
			if behind > 0 {
				return behind
			}
			return max(i, 1)
		}
		if p.Ref == " " || p.Hyp == " " {
			behind = i + 1
		}
	}
	return len(pairs)
}

// width is the number of columns that a pair takes: that of the wider side.
func (p Pair) width() int { return max(1, Width(shown(p.Ref)), Width(shown(p.Hyp))) }

// Fit is a text in just so many columns: with spaces behind it, or cut where it is longer.
func Fit(text string, columns int) string {
	var b strings.Builder
	used := 0
	for _, cluster := range Clusters(text) {
		n := Width(shown(cluster))
		if used+n > columns {
			break
		}
		b.WriteString(shown(cluster))
		used += n
	}
	return b.String() + strings.Repeat(" ", columns-used)
}

func lay(pairs []Pair) Rows {
	var ref, hyp, marks strings.Builder
	for _, p := range pairs {
		n := p.width()
		fill(&ref, p.Ref, n)
		fill(&hyp, p.Hyp, n)
		marks.WriteByte(byte(p.Edit()))
		marks.WriteString(strings.Repeat(" ", n-1))
	}
	return Rows{strings.TrimRight(ref.String(), " "), strings.TrimRight(hyp.String(), " "), strings.TrimRight(marks.String(), " ")}
}

// fill writes a cluster in n columns.
func fill(b *strings.Builder, cluster string, n int) {
	if cluster == "" {
		b.WriteString(strings.Repeat("*", n))
		return
	}
	s := shown(cluster)
	b.WriteString(s)
	b.WriteString(strings.Repeat(" ", n-Width(s)))
}
