package audit

import (
	"cmp"
	"slices"
	"strconv"

	"konkanitrain/data"
)

// figures adds up what is known of a set before its sound is read.
type figures struct {
	sum                      Set
	rates, channels, formats shares
	recordings               map[*data.Recording]bool
	speakers                 map[int32]bool
}

func newFigures(p Part) *figures {
	return &figures{
		sum:   Set{Path: p.Set.Path, Role: p.Role, Lines: p.Set.Report.Lines, Used: p.Set.Len(), LeftOut: leftOut(p.Set.Report)},
		rates: shares{}, channels: shares{}, formats: shares{}, recordings: map[*data.Recording]bool{}, speakers: map[int32]bool{},
	}
}

func (f *figures) add(u *data.Utterance, e *entry) {
	info := &u.Recording.Info
	f.sum.Seconds += u.Duration
	f.recordings[u.Recording] = true
	if e.speaker != 0 {
		f.speakers[e.speaker] = true
	}
	f.rates.add(strconv.Itoa(info.Rate), u.Duration)
	f.channels.add(strconv.Itoa(info.Channels), u.Duration)
	f.formats.add(info.Format, u.Duration)
	f.sum.Texts.Words += wordsIn(u.Text)
	f.sum.Texts.Letters += int(e.letters)
}

func (f *figures) set() Set {
	f.sum.Recordings, f.sum.Speakers = len(f.recordings), len(f.speakers)
	f.sum.Rates, f.sum.Channels, f.sum.Formats = f.rates.list(), f.channels.list(), f.formats.list()
	return f.sum
}

// describe adds to the figures of each set how its values are spread.
func (a *audit) describe() {
	for i := range a.sets {
		from := a.from[i]
		a.describeSet(&a.report.Sets[i], from, a.all[from:from+a.sets[i].Set.Len()])
	}
}

func (a *audit) describeSet(s *Set, from int, es []entry) {
	for i := range es {
		e := &es[i]
		if e.clipped > 0 {
			s.Clipped++
		}
		if e.state != unheard && e.state != broken {
			s.Heard++
			s.LargestDC = max(s.LargestDC, float64(max(e.offset, -e.offset)))
		}
	}
	s.Texts.Different, s.Texts.Repeated = a.repeated(from, len(es))

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
	s.Length = of(0, func(e *entry) (float64, bool) { return e.seconds, true })
	s.Letters = of(1, func(e *entry) (float64, bool) { return float64(e.letters), true })
	s.Rate = of(0, func(e *entry) (float64, bool) {
		return e.lettersASecond(), e.letters > 0 && e.state != allQuiet && e.state != broken
	})
	s.Level = sounds(0, func(e *entry) float32 { return e.level })
	s.Silence = sounds(0, func(e *entry) float32 { return e.silent })
	s.Leading = sounds(1.0/framesPerSecond, func(e *entry) float32 { return e.leading })
	s.Trailing = sounds(1.0/framesPerSecond, func(e *entry) float32 { return e.trailing })
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

// repeated counts the different texts of n entries, and lists those that stand most often.
func (a *audit) repeated(from, n int) (different int, top []RepeatText) {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(from + i)
	}
	a.sortByText(order)
	different = n
	var groups [][]int32
	for _, g := range runs(order, func(x, y int32) bool { return a.all[x].text == a.all[y].text }) {
		different -= len(g) - 1
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(g, h []int32) int { return cmp.Or(cmp.Compare(len(h), len(g)), cmp.Compare(g[0], h[0])) })
	top = []RepeatText{}
	for _, g := range groups[:min(len(groups), mostRepeated)] {
		top = append(top, RepeatText{a.text(int(g[0])), len(g)})
	}
	return different, top
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
