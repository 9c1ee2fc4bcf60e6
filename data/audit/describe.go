package audit

import (
	"cmp"
	"slices"
	"strconv"

	"konkanitrain/data"
)

// describe fills the figures of each set.
func (a *audit) describe() {
	for i, p := range a.sets {
		from := 0
		for _, before := range a.sets[:i] {
			from += before.Set.Len()
		}
		a.report.Sets = append(a.report.Sets, a.figures(p, a.all[from:from+p.Set.Len()]))
	}
}

// figures are those of one set.
func (a *audit) figures(p Part, es []entry) Set {
	r := p.Set.Report
	s := Set{Path: p.Set.Path, Role: p.Role, Lines: r.Lines, Used: len(es)}
	rates, channels, formats := shares{}, shares{}, shares{}
	recordings := map[*data.Recording]bool{}
	speakers := map[string]bool{}
	for i := range es {
		e := &es[i]
		info := &e.Recording.Info
		s.Seconds += e.Duration
		recordings[e.Recording] = true
		if e.Speaker != "" {
			speakers[e.Speaker] = true
		}
		rates.add(strconv.Itoa(info.Rate), e.Duration)
		channels.add(strconv.Itoa(info.Channels), e.Duration)
		formats.add(info.Format, e.Duration)
		s.Texts.Words += wordsIn(e.Text)
		s.Texts.Letters += int(e.letters)
		if e.clipped > 0 {
			s.Clipped++
		}
		if e.state != unheard && e.state != broken {
			s.Heard++
			s.LargestDC = max(s.LargestDC, float64(max(e.offset, -e.offset)))
		}
	}
	s.Recordings, s.Speakers = len(recordings), len(speakers)
	s.Rates, s.Channels, s.Formats, s.LeftOut = rates.list(), channels.list(), formats.list(), leftOut(r)
	s.Texts.Different, s.Texts.Repeated = repeated(es)

	values := make([]float64, 0, len(es))
	of := func(unit float64, value func(e *entry) (float64, bool)) Distribution {
		values = values[:0]
		for i := range es {
			if v, ok := value(&es[i]); ok {
				values = append(values, v)
			}
		}
		return distribution(values, unit)
	}
	sounds := func(unit float64, value func(e *entry) float32) Distribution {
		return of(unit, func(e *entry) (float64, bool) { return float64(value(e)), e.state == heard || e.state == steady })
	}
	s.Length = of(0, func(e *entry) (float64, bool) { return e.Duration, true })
	s.Letters = of(1, func(e *entry) (float64, bool) { return float64(e.letters), true })
	s.Rate = of(0, func(e *entry) (float64, bool) {
		return e.rate(), e.letters > 0 && e.state != allQuiet && e.state != broken
	})
	s.Level = sounds(0, func(e *entry) float32 { return e.level })
	s.Silence = sounds(0, func(e *entry) float32 { return e.silent })
	s.Leading = sounds(1.0/framesPerSecond, func(e *entry) float32 { return e.leading })
	s.Trailing = sounds(1.0/framesPerSecond, func(e *entry) float32 { return e.trailing })
	return s
}

// wordsIn counts the words of a normalized text.
func wordsIn(s string) int {
	if s == "" {
		return 0
	}
	n := 1
	for i := range len(s) {
		if s[i] == ' ' {
			n++
		}
	}
	return n
}

// mostRepeated is how many texts that stand several times are listed.
const mostRepeated = 20

// repeated counts the different texts and lists those that stand most often.
func repeated(es []entry) (different int, top []RepeatText) {
	counts := make(map[string]int, len(es))
	for i := range es {
		counts[es[i].Text]++
	}
	top = []RepeatText{}
	for text, n := range counts {
		if n > 1 {
			top = append(top, RepeatText{text, n})
		}
	}
	slices.SortFunc(top, func(x, y RepeatText) int { return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text)) })
	return len(counts), slices.Clone(top[:min(len(top), mostRepeated)])
}

// shares sums up by value.
type shares map[string]*Share

func (s shares) add(value string, seconds float64) {
	x := s[value]
	if x == nil {
		x = &Share{Value: value}
		s[value] = x
	}
	x.Count++
	x.Seconds += seconds
}

// list has the most frequent value first.
func (s shares) list() []Share {
	all := []Share{}
	for _, x := range s {
		all = append(all, *x)
	}
	slices.SortFunc(all, func(x, y Share) int { return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Value, y.Value)) })
	return all
}

// leftOut counts the lines that are left out by why.
func leftOut(r *data.Report) []Share {
	s := shares{}
	for kind, skipped := range r.Sorts() {
		if skipped {
			s[string(kind)] = &Share{Value: string(kind), Count: r.CountOf(kind, skipped)}
		}
	}
	return s.list()
}
