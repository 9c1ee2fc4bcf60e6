package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"konkanitrain/data/audit"
	"konkanitrain/internal/words"
)

// dataText is an audit for people: what to look at first, and the figures behind it.
type dataText struct{ r *audit.Report }

// textItems is how many items of a finding are printed, and textShown how much of their texts.
const (
	textItems = 3
	textShown = 48
)

// String is the whole text.
func (t dataText) String() string {
	var s strings.Builder
	s.WriteString(verdict(t.r) + "\n")
	for i := range t.r.Findings {
		t.finding(&s, &t.r.Findings[i])
	}
	for sets := range slices.Chunk(t.r.Sets, 3) {
		s.WriteString("\n" + setColumns(sets))
	}
	t.overlaps(&s)
	t.alphabet(&s)
	for _, n := range t.r.Notes {
		fmt.Fprintf(&s, "note: %s\n", n)
	}
	return s.String()
}

// verdict is how many findings there are, by grade.
func verdict(r *audit.Report) string {
	if len(r.Findings) == 0 {
		return "nothing odd was found"
	}
	var parts []string
	for _, g := range []audit.Grade{audit.Fault, audit.Doubt, audit.Remark} {
		if n := r.Count(g); n > 0 {
			parts = append(parts, words.Count(n, "kind")+" of "+string(g))
		}
	}
	return "what to look at: " + strings.Join(parts, ", ")
}

// finding prints a finding and the worst of its items.
func (t dataText) finding(s *strings.Builder, f *audit.Finding) {
	fmt.Fprintf(s, "%-7s %s\n", strings.ToUpper(string(f.Grade)), f.Title)
	for i := range f.Items[:min(len(f.Items), textItems)] {
		x := &f.Items[i]
		text := ""
		if x.Text != "" {
			text = "  " + quoted(x.Text, textShown)
		}
		fmt.Fprintf(s, "        %s: %s%s\n", fileLine(x.File, x.Line), x.Detail, text)
	}
	if more := f.Count - textItems; more > 0 && len(f.Items) > 0 {
		fmt.Fprintf(s, "        and %d more\n", more)
	}
}

// quoted is a text with at most n characters, in quotes of its own.
func quoted(s string, n int) string {
	if utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-1]) + "…"
	}
	return "“" + s + "”"
}

// setColumns are figures of sets, beside each other.
func setColumns(sets []audit.Set) string {
	rows := dataRows(sets, true)
	width := make([]int, len(sets)+1)
	for _, r := range rows {
		for i, cell := range r {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var s strings.Builder
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			line.WriteString(cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
		}
		s.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return s.String()
}

// dataRows is a table of the sets' figures: a name, and a cell for each set. spread says whether it has distributions.
func dataRows(sets []audit.Set, spread bool) (rows [][]string) {
	row := func(name string, cell func(s *audit.Set) string) {
		cells := []string{name}
		some := false
		for i := range sets {
			cells = append(cells, cell(&sets[i]))
			some = some || cells[i+1] != ""
		}
		if some {
			rows = append(rows, cells)
		}
	}
	row("", func(s *audit.Set) string { return s.Path })
	row("is for", func(s *audit.Set) string {
		if s.Role == audit.Train {
			return "training"
		}
		return "held out"
	})
	row("lines used", func(s *audit.Set) string {
		if s.Used == s.Lines {
			return fmt.Sprintf("all of %d", s.Lines)
		}
		return fmt.Sprintf("%d of %d", s.Used, s.Lines)
	})
	row("sound", func(s *audit.Set) string { return words.Duration(s.Seconds) })
	row("recordings", func(s *audit.Set) string { return fmt.Sprint(s.Recordings) })
	row("speakers", func(s *audit.Set) string {
		if s.Speakers == 0 {
			return ""
		}
		return fmt.Sprint(s.Speakers)
	})
	row("rates", func(s *audit.Set) string { return shareList(s.Rates, " Hz") })
	row("channels", func(s *audit.Set) string { return shareList(s.Channels, "") })
	row("formats", func(s *audit.Set) string { return shareList(s.Formats, "") })
	row("texts", func(s *audit.Set) string { return fmt.Sprintf("%d different", s.Texts.Different) })
	row("words, letters", func(s *audit.Set) string { return fmt.Sprintf("%d, %d", s.Texts.Words, s.Texts.Letters) })
	row("any clipping", func(s *audit.Set) string {
		if s.Clipped == 0 {
			return ""
		}
		return words.Count(s.Clipped, "utterance")
	})
	if !spread {
		return rows
	}
	for _, d := range dataDistributions {
		row(d.name, func(s *audit.Set) string { return rangeText(d.of(s), d.unit) })
		if d.bars {
			row("  5 to 95 %", func(s *audit.Set) string {
				x := d.of(s)
				return fmt.Sprintf("%s to %s", number(x.P5), number(x.P95))
			})
			row("  histogram", func(s *audit.Set) string { return bars(d.of(s).Histogram) })
		}
	}
	return rows
}

// dataDistributions are what is shown of how a set's values are spread.
var dataDistributions = []struct {
	name, unit string
	bars       bool // a histogram in the text, too
	of         func(s *audit.Set) audit.Distribution
}{
	{"length", "s", true, func(s *audit.Set) audit.Distribution { return s.Length }},
	{"letters", "", false, func(s *audit.Set) audit.Distribution { return s.Letters }},
	{"letters a second", "", true, func(s *audit.Set) audit.Distribution { return s.Rate }},
	{"level", "dBFS", false, func(s *audit.Set) audit.Distribution { return s.Level }},
	{"silent frames", "%", false, func(s *audit.Set) audit.Distribution { return percent(s.Silence) }},
	{"silence before", "s", false, func(s *audit.Set) audit.Distribution { return s.Leading }},
	{"silence behind", "s", false, func(s *audit.Set) audit.Distribution { return s.Trailing }},
}

// percent is a distribution of shares in percent.
func percent(d audit.Distribution) audit.Distribution {
	for _, v := range []*float64{&d.Min, &d.P1, &d.P5, &d.P25, &d.Median, &d.P75, &d.P95, &d.P99, &d.Max, &d.Mean, &d.Histogram.From, &d.Histogram.Step} {
		*v *= 100
	}
	return d
}

// rangeText is the median with the least and the most: "4.1 s (1.2 to 9.8)".
func rangeText(d audit.Distribution, unit string) string {
	if d.Count == 0 {
		return ""
	}
	text := number(d.Median)
	if unit != "" {
		text += " " + unit
	}
	if d.Min == d.Max {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, number(d.Min), number(d.Max))
}

// number has about three digits.
func number(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	text := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// bars is a histogram in one line of text.
func bars(h audit.Histogram) string {
	if len(h.Counts) < 2 {
		return ""
	}
	heights := []rune(" ▁▂▃▄▅▆▇█")
	most := slices.Max(h.Counts)
	var s strings.Builder
	fmt.Fprintf(&s, "%s ", number(h.From))
	for _, n := range h.Counts {
		height := n * (len(heights) - 1) / most
		if n > 0 {
			height = max(height, 1)
		}
		s.WriteRune(heights[height])
	}
	fmt.Fprintf(&s, " %s", number(h.From+h.Step*float64(len(h.Counts))))
	if h.Above > 0 {
		fmt.Fprintf(&s, " + %d", h.Above)
	}
	return s.String()
}

// shareList names values with their share of the utterances.
func shareList(shares []audit.Share, unit string) string {
	total := 0
	for _, x := range shares {
		total += x.Count
	}
	var list []string
	for _, x := range shares {
		text := x.Value + unit
		if len(shares) > 1 {
			text += fmt.Sprintf(" (%s)", partText(x.Count, total))
		}
		list = append(list, text)
	}
	return words.List(list, 4)
}

// partText is a share in percent that is never rounded to nothing or all.
func partText(n, of int) string {
	switch p := 100 * float64(n) / float64(max(of, 1)); {
	case n > 0 && p < 0.1:
		return "< 0.1 %"
	case n < of && p > 99.9:
		return "> 99.9 %"
	default:
		return number(p) + " %"
	}
}

func (t dataText) overlaps(s *strings.Builder) {
	for i, o := range t.r.Overlaps {
		if i == 0 {
			s.WriteString("\n")
		}
		sound, speaker := overlapCounts(o, t.r)
		fmt.Fprintf(s, "of %s in %s, these are in %s too: %s by sound, %d by text, %s by speaker\n",
			words.Count(o.Of, "utterance"), o.Second, o.First, sound, o.Text, speaker)
	}
}

// overlapCounts are the numbers of sounds and speakers that sets have in common, ? where they are not known.
func overlapCounts(o audit.Overlap, r *audit.Report) (sound, speaker string) {
	sound, speaker = fmt.Sprint(o.Sound), fmt.Sprint(o.Speaker)
	for _, s := range r.Sets {
		if s.Path != o.First && s.Path != o.Second {
			continue
		}
		if s.Heard == 0 {
			sound = "?"
		}
		if s.Speakers == 0 {
			speaker = "?"
		}
	}
	return sound, speaker
}

func (t dataText) alphabet(s *strings.Builder) {
	a := t.r.Alphabet
	var scripts, rare []string
	for _, x := range a.Scripts {
		scripts = append(scripts, fmt.Sprintf("%s %d letters", x.Name, x.Letters))
	}
	for _, c := range a.Characters {
		if len(c.Lines) > 0 {
			rare = append(rare, fmt.Sprintf("%q x %d", c.Char, c.Train))
		}
	}
	fmt.Fprintf(s, "%s: %s\n", words.Count(len(a.Characters), "character"), words.List(scripts, 6))
	if len(rare) > 0 {
		fmt.Fprintf(s, "rare in training: %s\n", words.List(rare, 20))
	}
}
