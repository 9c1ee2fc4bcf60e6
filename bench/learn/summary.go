package main

import (
	"maps"
	"math"
	"slices"
	"sort"
)

// stat is the spread of a value over seeds.
type stat struct {
	mean, sd, low, high float64 // sd: of the sample; 0 of one seed
	n                   int
}

// statOf is the spread of values.
func statOf(values []float64) stat {
	s := stat{n: len(values)}
	if s.n == 0 {
		return s
	}
	s.low, s.high = slices.Min(values), slices.Max(values)
	for _, v := range values {
		s.mean += v / float64(s.n)
	}
	for _, v := range values {
		s.sd += (v - s.mean) * (v - s.mean)
	}
	s.sd = math.Sqrt(s.sd / float64(max(s.n-1, 1)))
	return s
}

// section is what came of a task.
type section struct {
	name, what string
	words      bool // the value is words right, in percent; else it is the character error rate
	rows       []row
}

// value is the section's measure of a score.
func (s *section) value(x score) float64 {
	if s.words {
		return x.Exact
	}
	return x.CER
}

// row is what came of a recipe on a task. Where the task has folds, a seed's value is the mean over them.
type row struct {
	recipe, what     string
	value            stat
	gain             *gain
	wer, cer, blanks stat
	more             []moreStat
	updates          int     // the most of a run
	cpu              float64 // seconds of an update, in the mean over runs
	runs, failed     int     // failed: of the runs
	failure          string  // what the last of these said
	partial          int     // seeds whose other folds are missing, or have failed: they count for nothing
	programs         []string
	loss, cers       band
}

// gain is the difference of a recipe's values to those of the one that it is like, seed by seed.
type gain struct {
	over string
	stat
}

// other is the row's error rate on a further test set.
func (r *row) other(name string) stat {
	for _, m := range r.more {
		if m.name == name {
			return m.stat
		}
	}
	return stat{}
}

// moreStat is the character error rate of a further test set.
type moreStat struct {
	name string
	stat
}

// summarize sorts results by task and recipe. Recipes come in the given order, and others behind.
func summarize(list []result, order []string) []section {
	list = latest(list)
	names := taskNames()
	for _, r := range list {
		if !slices.Contains(names, r.Task) {
			names = append(names, r.Task)
		}
		if !slices.Contains(order, r.Recipe) {
			order = append(order[:len(order):len(order)], r.Recipe)
		}
	}
	var sections []section
	for _, name := range names {
		s := section{name: name}
		if t := taskNamed(name); t != nil {
			s.what, s.words = t.what, t.words
		}
		var of []result
		for _, r := range list {
			if r.Task == name {
				of = append(of, r)
			}
		}
		values := map[string]map[uint64]float64{} // by recipe and seed
		for _, recipe := range order {
			var runs []result
			for _, r := range of {
				if r.Recipe == recipe {
					runs = append(runs, r)
				}
			}
			if len(runs) == 0 {
				continue
			}
			row, bySeed := s.row(runs, folds(of))
			values[recipe] = bySeed
			over := runs[len(runs)-1].Over
			if before := values[over]; before != nil && over != recipe {
				row.gain = gainOver(over, before, bySeed)
			}
			s.rows = append(s.rows, row)
		}
		if len(s.rows) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// folds counts the folds of a task.
func folds(of []result) int {
	names := map[string]bool{}
	for _, r := range of {
		names[r.Fold] = true
	}
	return len(names)
}

// row sums the runs of a recipe up, and gives the value of each seed.
func (s *section) row(runs []result, folds int) (row, map[uint64]float64) {
	last := runs[len(runs)-1]
	r := row{recipe: last.Recipe, what: last.What, runs: len(runs)}
	seeds := map[uint64][]result{}
	n := 0
	for _, x := range runs {
		if !slices.Contains(r.programs, x.Program) {
			r.programs = append(r.programs, x.Program)
		}
		if x.Failed != "" {
			r.failed++
			r.failure = x.Failed
			continue
		}
		seeds[x.Seed] = append(seeds[x.Seed], x)
		r.updates = max(r.updates, x.Updates)
		r.cpu += x.CPU
		n++
	}
	r.cpu /= float64(max(n, 1))
	bySeed := map[uint64]float64{}
	var value, wer, cer, blanks []float64
	more := map[string][]float64{}
	for _, seed := range slices.Sorted(maps.Keys(seeds)) {
		of := seeds[seed]
		if len(of) < folds {
			if len(of) > 0 {
				r.partial++
			}
			continue
		}
		mean := meanScore(of)
		bySeed[seed] = s.value(mean)
		value, wer = append(value, s.value(mean)), append(wer, mean.WER)
		cer, blanks = append(cer, mean.CER), append(blanks, mean.Blanks)
		for _, x := range of[0].More {
			more[x.Name] = append(more[x.Name], x.CER)
		}
	}
	r.value, r.wer, r.cer, r.blanks = statOf(value), statOf(wer), statOf(cer), statOf(blanks)
	for _, name := range slices.Sorted(maps.Keys(more)) {
		r.more = append(r.more, moreStat{name, statOf(more[name])})
	}
	var losses, cers []curve
	for _, x := range runs {
		losses, cers = append(losses, x.Losses), append(cers, x.CERs)
	}
	r.loss, r.cers = bandOf(losses), bandOf(cers)
	return r, bySeed
}

// meanScore is the mean over folds.
func meanScore(list []result) (s score) {
	each := 1 / float64(len(list))
	for _, r := range list {
		s.WER += r.WER * each
		s.CER += r.CER * each
		s.Exact += r.Exact * each
		s.Blanks += r.Blanks * each
	}
	return s
}

// gainOver is the difference of values seed by seed; nil where there is no seed that both have.
func gainOver(over string, before, after map[uint64]float64) *gain {
	var d []float64
	for seed, v := range after {
		if b, both := before[seed]; both {
			d = append(d, v-b)
		}
	}
	if len(d) == 0 {
		return nil
	}
	sort.Float64s(d) // the sum's order
	return &gain{over, statOf(d)}
}

// band is the mean of several curves, with the lowest and the highest of them.
type band struct {
	x, mean, low, high []float64 // x: updates
}

// bandOf is the band of curves at the updates of the longest of them; the others are read there along straight lines,
// and beyond their ends not at all.
func bandOf(curves []curve) band {
	var longest curve
	for _, c := range curves {
		if len(c) > len(longest) {
			longest = c
		}
	}
	var b band
	for _, point := range longest {
		var values []float64
		for _, c := range curves {
			if v, ok := c.at(point[0]); ok {
				values = append(values, v)
			}
		}
		s := statOf(values)
		b.x, b.mean = append(b.x, point[0]), append(b.mean, digits(s.mean, 4))
		b.low, b.high = append(b.low, digits(s.low, 4)), append(b.high, digits(s.high, 4))
	}
	return b
}

// at is a curve's value at an update between its ends.
func (c curve) at(update float64) (float64, bool) {
	i := sort.Search(len(c), func(i int) bool { return c[i][0] >= update })
	switch {
	case i == len(c):
		return 0, false
	case c[i][0] == update:
		return c[i][1], true
	case i == 0:
		return 0, false
	}
	a, b := c[i-1], c[i]
	return a[1] + (b[1]-a[1])*(update-a[0])/(b[0]-a[0]), true
}
